import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { FrameParser, FrameType } from './http2-frames.ts'
import { isLastAnswer } from './nghttp2-server.ts'

const limitMs = 5_000

/** A client of HTTP/2 without TLS that sends one connection's bytes, and waits for what comes back. */
export class PlainFrameClient {
  readonly #socket: Socket
  readonly #parser = new FrameParser()
  #onMore: (() => void) | undefined
  #closed = false

  /** `localAddress`: where the connection comes from; any address of loopback. */
  constructor(port: number, localAddress: string) {
    this.#socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      this.#closed = true
      this.#onMore?.()
    })
    this.#socket.on('data', (chunk: Buffer) => {
      this.#parser.take(chunk)
      this.#onMore?.()
    })
  }

  /** Whether the other side ended the connection. */
  get isRefused(): boolean {
    return this.#closed || this.goAwayCode !== undefined
  }

  get goAwayCode(): number | undefined {
    return this.#parser.frames.find(({ type }) => type === FrameType.GoAway)?.payload.readUInt32BE(4)
  }

  /** Whether the other side has reset a stream. */
  get hasReset(): boolean {
    return this.#parser.frames.some(({ type }) => type === FrameType.Reset)
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  /** Resolves when all was read and these streams are over, or the connection was refused. */
  async settled(streams: readonly number[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the gateway does not answer')), limitMs)
      this.#onMore = () => {
        if (!this.isRefused && !(this.#hasRead() && streams.every((stream) => this.#isOver(stream)))) return
        clearTimeout(timer)
        resolve()
      }
      this.#onMore()
    })
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #hasRead(): boolean {
    return this.#parser.frames.some(isLastAnswer)
  }

  /** The page of a refusal may be longer than the window that the client has opened for it. */
  #isOver(stream: number): boolean {
    return this.#parser.frames.some(
      (frame) =>
        frame.stream === stream && (frame.type === FrameType.Reset || frame.type === FrameType.Headers),
    )
  }
}
