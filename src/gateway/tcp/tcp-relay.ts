import type { Socket } from 'node:net'
import type { Admission } from '../traffic.ts'
import { writeAndFree } from '../write-and-free.ts'

/** How long the remaining side may take none of the last bytes, once the other side has closed. */
const lastBytesMs = 60_000

/**
 * The most bytes that a side may leave unread before the other side is paused. A socket's own bound is the
 * size of one read, so with it, reading would end and begin again with each read.
 */
const maxUnreadBytes = 256 << 10

/**
 * Passes bytes both ways, each way as fast as its reader accepts them. The end of each side is passed on
 * separately. The client's bytes do not reach an instance that sleeps: they wait until it is awake.
 */
export class TcpRelay {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #admission: Admission
  #stopListening: () => void = () => undefined
  /** What the client sent while the instance is being woken. The client's socket is paused meanwhile. */
  #held: Buffer[] | undefined
  #endHeld = false
  /** When the last byte passed, in either direction. */
  movedAtMs = performance.now()

  constructor(client: Socket, upstream: Socket, admission: Admission) {
    this.#client = client
    this.#upstream = upstream
    this.#admission = admission
  }

  start(): void {
    const client = this.#client
    const upstream = this.#upstream
    const admission = this.#admission
    upstream.allowHalfOpen = true
    upstream.on('error', () => this.#destroy())
    upstream.once('close', () => this.#upstreamClosed())
    client.once('close', () => this.#clientClosed())
    this.#stopListening = admission.onEnd((why) => {
      if (why !== 'close') this.#gone()
    })
    upstream.on('data', (chunk: Buffer) => {
      this.movedAtMs = performance.now()
      admission.touch()
      if (!writeAndFree(client, chunk) && client.writableLength >= maxUnreadBytes) upstream.pause()
    })
    client.on('drain', () => upstream.resume())
    upstream.once('end', () => client.end())
    client.on('data', (chunk: Buffer) => this.#forward(chunk))
    upstream.on('drain', () => {
      if (this.#held === undefined) client.resume()
    })
    client.once('end', () => this.#forwardEnd())
    client.resume()
  }

  /** Called when the instance's side has closed. The client may not have read everything yet. */
  #upstreamClosed(): void {
    this.#stopListening()
    this.#admission.done()
    if (!this.#upstream.readableEnded) this.#client.destroy()
    else if (!this.#client.destroyed) this.#limitEnd(this.#client)
  }

  /**
   * Called when the client's side has closed. If both sides had ended, the instance may not have read
   * everything yet.
   */
  #clientClosed(): void {
    const upstream = this.#upstream
    const ended = upstream.readableEnded && (upstream.writableEnded || this.#endHeld)
    if (ended && !upstream.destroyed) this.#limitEnd(upstream)
    else upstream.destroy()
  }

  /**
   * Called when the boot has ended. If the instance had ended its side, the client still gets everything
   * that was sent. If not, the connection is broken so that the client sees that something is missing.
   */
  #gone(): void {
    if (this.#upstream.readableEnded) this.#upstream.destroy()
    else this.#destroy()
  }

  #limitEnd(side: Socket): void {
    side.setTimeout(lastBytesMs, () => side.destroy())
  }

  /** Bytes that one side sent and the other has not taken. */
  get heldBytes(): number {
    const waiting = this.#held?.reduce((sum, { length }) => sum + length, 0) ?? 0
    return waiting + this.#client.writableLength + this.#upstream.writableLength
  }

  #forward(chunk: Buffer): void {
    this.movedAtMs = performance.now()
    if (this.#held !== undefined) {
      this.#held.push(chunk)
      return
    }
    const waking = this.#admission.awaken()
    if (waking === undefined) {
      const upstream = this.#upstream
      if (!writeAndFree(upstream, chunk) && upstream.writableLength >= maxUnreadBytes) this.#client.pause()
      return
    }
    this.#client.pause()
    this.#held = [chunk]
    void this.#passOn(waking)
  }

  #forwardEnd(): void {
    const waking = this.#held === undefined ? this.#admission.awaken() : undefined
    if (this.#held === undefined && waking === undefined) {
      this.#upstream.end()
      return
    }
    this.#endHeld = true
    if (waking === undefined) return
    this.#held = []
    void this.#passOn(waking)
  }

  async #passOn(waking: Promise<boolean>): Promise<void> {
    if (!(await waking)) {
      this.#destroy()
      return
    }
    const held = this.#held ?? []
    this.#held = undefined
    for (const chunk of held) writeAndFree(this.#upstream, chunk)
    if (this.#endHeld) this.#upstream.end()
    else if (!this.#upstream.writableNeedDrain) this.#client.resume()
  }

  #destroy(): void {
    this.#upstream.destroy()
    this.#client.destroy()
  }
}
