import { performServerHandshake } from 'node:http2'
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import { FrameParser, FrameType, frameBytes } from './http2-frames.ts'
import type { Frame } from './http2-frames.ts'

/** One end of a connection within this process. */
export class Wire extends Duplex {
  readonly #onBytes: (bytes: Buffer) => void

  constructor(onBytes: (bytes: Buffer) => void) {
    super()
    this.#onBytes = onBytes
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#onBytes(chunk)
    done()
  }
}

/** What nghttp2 reads of a request. */
export interface Nghttp2Request {
  /** The flat list of its fields, as they came. */
  readonly fields: readonly string[]
  body: string
  trailers: readonly string[]
  /** Whether it came to its end, and was not reset afterwards. */
  complete: boolean
  /** Whether the stream is closed. It was reset then, because nothing is answered here. */
  isClosed: boolean
}

const ping = Buffer.from('the end!')
export const lastPing = frameBytes({ type: FrameType.Ping, payload: ping })
/**
 * More zeros than a frame can miss. Behind it they are frames of a body of no stream, which end the
 * connection.
 */
export const endingZeros = Buffer.alloc(17_000)

/** One connection to Node's own server of HTTP/2, which is nghttp2. It tells what it reads. */
export class Nghttp2Connection {
  readonly requests = new Map<number, Nghttp2Request>()
  readonly #wire: Wire
  readonly #session: ServerHttp2Session
  readonly #parser = new FrameParser()
  #onSettled: (() => void) | undefined
  #ended = false

  constructor() {
    this.#wire = new Wire((bytes) => {
      this.#parser.take(bytes)
      if (this.#parser.frames.some(isLastAnswer)) this.#settled()
    })
    this.#session = performServerHandshake(this.#wire, {
      maxHeaderListPairs: 10_000,
      maxSessionInvalidFrames: 1_000_000,
      strictSingleValueFields: false,
      streamResetBurst: 1_000_000,
      streamResetRate: 1_000_000,
      settings: { enableConnectProtocol: true, maxHeaderListSize: 1 << 20, initialWindowSize: 1 << 20 },
    })
    this.#session.on('error', () => undefined)
    this.#session.on('close', () => this.#settled())
    this.#session.on('stream', (stream, _headers, _flags, raw) => this.#request(stream, raw))
  }

  /** The frames that it has sent. */
  get answers(): readonly Frame[] {
    return this.#parser.frames
  }

  /** Whether it has ended the connection. */
  get isClosed(): boolean {
    return this.#session.destroyed
  }

  get goAwayCode(): number | undefined {
    return this.answers.find(({ type }) => type === FrameType.GoAway)?.payload.readUInt32BE(4)
  }

  /**
   * Gives it bytes, and a PING behind them. Resolves when all of it is read. It resolves with false if the
   * PING was not read, because the bytes end within a frame.
   */
  async read(bytes: Buffer): Promise<boolean> {
    const settled = new Promise<boolean>((resolve) => {
      this.#onSettled = () => resolve(true)
    })
    this.#wire.push(Buffer.concat([bytes, lastPing]))
    // nghttp2 answers within some turns of the event loop.
    const late = async (): Promise<boolean> => {
      for (let turn = 0; turn < 300 && !this.#ended; turn += 1) await new Promise(setImmediate)
      return this.#ended ? settled : false
    }
    return late()
  }

  close(): void {
    this.#session.destroy()
    this.#wire.destroy()
  }

  #settled(): void {
    if (this.#ended) return
    this.#ended = true
    // What was read is told within some turns of the event loop.
    setImmediate(() => setImmediate(() => setImmediate(() => this.#onSettled?.())))
  }

  #request(stream: ServerHttp2Stream, fields: readonly string[]): void {
    const request: Nghttp2Request = { fields, body: '', trailers: [], complete: false, isClosed: false }
    if (stream.id !== undefined) this.requests.set(stream.id, request)
    stream.on('error', () => undefined)
    stream.on('close', () => (request.isClosed = true))
    stream.on('trailers', (_headers, _flags, raw) => (request.trailers = raw))
    stream.on('data', (chunk: Buffer) => (request.body += chunk.toString('latin1')))
    stream.on('end', () => (request.complete = !stream.aborted))
    stream.on('aborted', () => (request.complete = false))
  }
}

/** Whether nothing more is read after this answer, or the last PING was. */
export function isLastAnswer({ type, flags, payload }: Frame): boolean {
  return type === FrameType.GoAway || (type === FrameType.Ping && flags === 1 && payload.equals(ping))
}
