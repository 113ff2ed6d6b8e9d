import type { Duplex } from 'node:stream'
import { WebSocketFrames, goingAwayFrame } from './websocket-frames.ts'
import { writeAndFree } from '../../write-and-free.ts'

export interface TunnelOptions {
  readonly client: Duplex
  readonly instance: Duplex
  readonly closeMs: number
  readonly onOver: () => void
  /** Called for every chunk of bytes that passed. */
  readonly onMoved: () => void
}

/** Passes the bytes of a WebSocket both ways, with back-pressure, and tells each side's end to the other. */
export class WebSocketTunnel {
  readonly #client: Duplex
  readonly #instance: Duplex
  readonly #closeMs: number
  readonly #onOver: () => void
  readonly #onMoved: () => void
  readonly #fromInstance = new WebSocketFrames()
  readonly #fromClient = new WebSocketFrames()
  #goingAway = false
  /** Whether the gateway's close frame was sent. After it, nothing from the instance is passed on. */
  #saidGoodbye = false
  #lastChance: NodeJS.Timeout | undefined
  #over = false

  constructor(options: TunnelOptions) {
    this.#client = options.client
    this.#instance = options.instance
    this.#closeMs = options.closeMs
    this.#onOver = options.onOver
    this.#onMoved = options.onMoved
  }

  start(): void {
    const client = this.#client
    const instance = this.#instance
    client.on('data', (chunk: Buffer) => this.#toInstance(chunk))
    instance.on('data', (chunk: Buffer) => this.#toClient(chunk))
    client.on('drain', () => instance.resume())
    instance.on('drain', () => client.resume())
    client.on('end', () => this.#ended(instance))
    instance.on('end', () => this.#instanceEnded())
    for (const side of [client, instance]) {
      side.on('error', () => this.end())
      side.on('close', () => this.#closed(side))
    }
  }

  /**
   * Sends 1001 to the client as soon as no frame is under way, and ends when the client has answered, or
   * after `closeMs`.
   */
  goAway(): void {
    if (this.#goingAway || this.#over) return
    this.#goingAway = true
    this.#limitEnd()
    if (this.#fromInstance.atBoundary) this.#sayGoodbye()
  }

  end(): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#lastChance)
    this.#client.destroy()
    this.#instance.destroy()
    this.#onOver()
  }

  #toClient(chunk: Buffer): void {
    if (this.#saidGoodbye) return
    this.#onMoved()
    const bytes = this.#fromInstance.follow(chunk, { stop: this.#goingAway })
    const passed = bytes === chunk.length ? chunk : chunk.subarray(0, bytes)
    if (!writeAndFree(this.#client, passed)) this.#instance.pause()
    if (this.#goingAway && this.#fromInstance.atBoundary) this.#sayGoodbye()
  }

  #toInstance(chunk: Buffer): void {
    this.#onMoved()
    this.#fromClient.follow(chunk, { stop: false })
    if (this.#instance.writable && !writeAndFree(this.#instance, chunk)) this.#client.pause()
    if (this.#saidGoodbye && this.#fromClient.closing) this.#client.end()
  }

  #sayGoodbye(): void {
    this.#saidGoodbye = true
    // An instance that is closing has already said why.
    if (!this.#fromInstance.closing) this.#client.write(goingAwayFrame)
    this.#instance.resume()
    if (this.#fromClient.closing) this.#client.end()
  }

  /**
   * Called when the instance's side has ended. An instance that shuts down may close at once; the client
   * still has to answer the gateway's frame.
   */
  #instanceEnded(): void {
    if (this.#saidGoodbye && !this.#fromClient.closing) return
    this.#ended(this.#client)
  }

  #ended(other: Duplex): void {
    this.#limitEnd()
    other.end()
  }

  #closed(side: Duplex): void {
    if (side === this.#instance && this.#client.writable) {
      this.#instanceEnded()
      if (this.#saidGoodbye) return
    }
    const other = side === this.#client ? this.#instance : this.#client
    if (other.destroyed || other.writableFinished || side === this.#client) this.end()
    else other.once('finish', () => this.end())
  }

  #limitEnd(): void {
    this.#lastChance ??= setTimeout(() => this.end(), this.#closeMs)
  }
}
