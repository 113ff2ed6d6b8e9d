import type { Socket } from 'node:net'
import type { Admission } from '../traffic.ts'

/** One side has closed, and the other takes nothing of what is left for it. */
const lastBytesMs = 60_000

/**
 * What a side may leave unread before the other is no longer read from. A socket's own bound is that of one
 * read, so that reading would end and begin again with each.
 */
const maxUnreadBytes = 256 << 10

/**
 * Bytes both ways, each way at the pace of its reader, and each end passed on by itself. Nothing of the
 * client is passed on to an instance that sleeps: then it waits until the instance is awake.
 */
export class TcpRelay {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #admission: Admission
  #stopListening: () => void = () => undefined
  /** What the client sent while the instance is being woken; its socket is paused meanwhile. */
  #held: Buffer[] | undefined
  #endHeld = false
  /** When a byte passed, in either direction. */
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
      if (!client.write(chunk) && client.writableLength >= maxUnreadBytes) upstream.pause()
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

  /** The client may not have read everything yet that was written to it. */
  #upstreamClosed(): void {
    this.#stopListening()
    this.#admission.done()
    if (!this.#upstream.readableEnded) this.#client.destroy()
    else if (!this.#client.destroyed) this.#limitEnd(this.#client)
  }

  /** Where both sides had ended, the instance may not have read everything yet. */
  #clientClosed(): void {
    const upstream = this.#upstream
    const ended = upstream.readableEnded && (upstream.writableEnded || this.#endHeld)
    if (ended && !upstream.destroyed) this.#limitEnd(upstream)
    else upstream.destroy()
  }

  /** What it said to its end is still the client's; else the client is to see that something is missing. */
  #gone(): void {
    if (this.#upstream.readableEnded) this.#upstream.destroy()
    else this.#destroy()
  }

  #limitEnd(side: Socket): void {
    side.setTimeout(lastBytesMs, () => side.destroy())
  }

  /** What one side left for the other, which does not take it. */
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
      if (!upstream.write(chunk) && upstream.writableLength >= maxUnreadBytes) this.#client.pause()
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
    for (const chunk of held) this.#upstream.write(chunk)
    if (this.#endHeld) this.#upstream.end()
    else if (!this.#upstream.writableNeedDrain) this.#client.resume()
  }

  #destroy(): void {
    this.#upstream.destroy()
    this.#client.destroy()
  }
}
