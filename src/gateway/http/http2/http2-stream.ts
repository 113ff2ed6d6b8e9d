import { Readable } from 'node:stream'
import type { Duplex } from 'node:stream'
import type { ClientConnection } from '../client-connection.ts'
import type { Exchange } from '../exchange.ts'
import type { UpgradableSide } from '../forward/websocket-forward.ts'
import { httpDate } from '../http-date.ts'
import type { AnswerFlow, AnsweredStream } from './answer-flow.ts'
import { encodeFields, encodeStatus } from './hpack-encoder.ts'
import type { FrameOutput, FramePlace } from './frame-output.ts'
import { ErrorCode, Flag, FrameType, frameHead, headersFrames, resetFrame } from './frames.ts'
import { Http2Body } from './http2-body.ts'
import { Http2Tunnel } from './http2-tunnel.ts'
import type { Carrier } from './http2-tunnel.ts'

/** What a stream needs of its connection. */
export interface StreamHome {
  readonly client: ClientConnection
  readonly output: FrameOutput
  readonly flow: AnswerFlow
  /** Called when bytes of a body have left the stream, so that the client may send as many more. */
  taken(stream: Http2Stream, bytes: number): void
  /** What the next block of fields has to begin with. */
  readonly blockStart: string
  /** Called when nothing more comes or goes over the stream. */
  closed(stream: Http2Stream): void
}

const noBody = Readable.from([])
const noFields: readonly string[] = []
/** The largest piece of a body that is sent before it is another stream's turn. */
const turnBytes = 64 << 10

/** One request of an HTTP/2 client: a stream of its connection. */
export class Http2Stream implements UpgradableSide, AnsweredStream, Carrier {
  readonly id: number
  readonly upgradeStatus = 200
  exchange: Exchange | undefined
  headGiven = false
  place = 0
  window: number
  /** How many bytes of the request's body the client may send now. */
  receiveWindow: number
  /** Bytes that were taken since the client was last told that it may send more. */
  credit = 0
  /** What is left of the body by the length that the head said; undefined if it said none. */
  leftBytes: number | undefined
  /** Whether the gateway has reset it. */
  isReset = false
  readonly #home: StreamHome
  readonly #body: Http2Body | undefined
  readonly #isHead: boolean
  readonly #lingerMs: number
  #requestEnded: boolean
  #answerEnded = false
  #closed = false
  #isError = false
  #hasBody = true
  #requestTrailers = noFields
  /** Where the last frame of this stream stands, while it may be marked as the last one. */
  #lastFrame: FramePlace | undefined
  /** Pieces of the answer that the client does not take yet. */
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** The block of the answer's trailers, once the answer is complete; empty if there are none. */
  #trailers: string | undefined
  /** Whether the answer has no use for the rest of the request. */
  #resetsRequest = false
  #lingering: NodeJS.Timeout | undefined
  #onDrain: (() => void) | undefined
  #tunnel: Http2Tunnel | undefined

  constructor(options: {
    readonly id: number
    readonly home: StreamHome
    readonly isHead: boolean
    readonly isTunnel: boolean
    readonly ended: boolean
    readonly window: number
    readonly receiveWindow: number
    readonly lingerMs: number
  }) {
    this.id = options.id
    this.#home = options.home
    this.#isHead = options.isHead
    this.#requestEnded = options.ended
    this.window = options.window
    this.receiveWindow = options.receiveWindow
    this.#lingerMs = options.lingerMs
    if (options.ended && !options.isTunnel) return
    this.#body = new Http2Body((bytes) => this.#home.taken(this, bytes))
    if (options.ended) this.#body.finish()
  }

  get connection(): ClientConnection {
    return this.#home.client
  }

  get body(): Readable {
    return this.#body ?? noBody
  }

  get heldBytes(): number {
    return (this.#body?.heldBytes ?? 0) + this.#pendingBytes
  }

  get requestEnded(): boolean {
    return this.#requestEnded
  }

  get isAnswered(): boolean {
    return this.#answerEnded
  }

  get isWaiting(): boolean {
    return this.#pendingBytes > 0 && !this.#closed
  }

  trailers(): readonly string[] {
    return this.#requestTrailers
  }

  continue(): void {
    this.inform(100, [])
  }

  inform(status: number, fields: readonly string[]): void {
    if (this.#closed) return
    this.#home.output.send(
      headersFrames(this.id, this.#home.blockStart + encodeStatus(status) + encodeFields(fields), 0),
    )
  }

  abandonBody(): void {}

  head(status: number, _reason: string, fields: string[]): void {
    this.headGiven = true
    if (this.#closed) return
    this.#isError = status >= 400
    this.#hasBody = !this.#isHead && status !== 204 && status !== 304
    if (!fields.some((name, at) => at % 2 === 0 && name === 'date')) fields.push('date', httpDate())
    const block = this.#home.blockStart + encodeStatus(status) + encodeFields(fields)
    this.#lastFrame = this.#home.output.sendMarkable(headersFrames(this.id, block, 0))
  }

  /** Does nothing: what was given is sent at the end of the event loop's turn. */
  flush(): void {}

  write(chunk: Buffer): boolean {
    if (!this.#hasBody || this.#closed || chunk.length === 0) return true
    const sent = this.#pendingBytes > 0 ? 0 : this.#send(chunk, chunk.length)
    if (sent === chunk.length) return true
    this.#pending.push(Buffer.from(chunk.subarray(sent)))
    this.#pendingBytes += chunk.length - sent
    this.#home.flow.waits()
    return false
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  end(trailers: readonly string[] = noFields): void {
    this.#resetsRequest = true
    this.endAnswer(trailers)
  }

  /** Ends the answer, while the request may go on. */
  endAnswer(trailers: readonly string[] = noFields): void {
    if (this.#trailers !== undefined) return
    this.#trailers = encodeFields(trailers)
    if (this.#pendingBytes === 0) this.#finish(this.#trailers)
  }

  breakOff(): void {
    this.#reset(ErrorCode.InternalError)
  }

  cancel(): void {
    if (!this.#answerEnded || !this.#requestEnded) this.#reset(ErrorCode.Cancel)
  }

  upgrade(fields: readonly string[]): Duplex {
    this.head(this.upgradeStatus, '', [...fields])
    this.#tunnel = new Http2Tunnel(this)
    return this.#tunnel
  }

  /** Called with bytes of the request's body. */
  received(bytes: Buffer): void {
    this.#body?.accept(bytes)
  }

  /** Called when the request is complete. */
  receivedEnd(trailers: readonly string[] = noFields): void {
    this.#requestTrailers = trailers
    this.#requestEnded = true
    this.#body?.finish()
    if (this.#answerEnded) this.#close()
  }

  /** Called when the client has ended the stream, or must be told by `code` that it has ended. */
  gone(code?: ErrorCode): void {
    if (code === undefined) this.#close()
    else this.#reset(code)
    this.exchange?.clientGone()
  }

  pump(): void {
    let left = turnBytes
    while (left > 0 && this.isWaiting) {
      const [chunk = noChunk] = this.#pending
      const sent = this.#send(chunk, left)
      if (sent === 0) break
      left -= sent
      this.#pendingBytes -= sent
      if (sent === chunk.length) this.#pending.shift()
      else this.#pending[0] = chunk.subarray(sent)
    }
    if (this.#pendingBytes === 0 && !this.#closed) {
      if (this.#trailers === undefined) this.#onDrain?.()
      else this.#finish(this.#trailers)
    }
  }

  /** Sends as much of the chunk as the client takes. Returns how much that is. */
  #send(chunk: Buffer, mostBytes: number): number {
    const { output, flow } = this.#home
    if (output.isFull) return 0
    const bytes = Math.min(chunk.length, mostBytes, this.window, flow.window)
    if (bytes <= 0) return 0
    this.window -= bytes
    flow.sent(bytes)
    this.#lastFrame = output.sendData(this.id, bytes === chunk.length ? chunk : chunk.subarray(0, bytes))
    return bytes
  }

  #finish(trailers: string): void {
    if (this.#closed || this.#answerEnded) return
    this.#answerEnded = true
    const { output } = this.#home
    if (trailers !== '') output.send(headersFrames(this.id, trailers, Flag.EndStream))
    else if (!output.mark(this.#lastFrame, Flag.EndStream)) {
      output.send(frameHead(0, FrameType.Data, Flag.EndStream, this.id))
    }
    if (this.#requestEnded) this.#close()
    else if (this.#resetsRequest) this.#dropRest()
  }

  /**
   * Ends a stream whose request is not complete. After an error, clients stop by themselves; curl 7.88 would
   * lose the answer if the gateway ended the stream first. So the gateway drops what still comes, and waits.
   * After any other answer that curl would go on for ever, so the stream ends at once.
   */
  #dropRest(): void {
    if (!this.#isError) return this.#reset(ErrorCode.NoError)
    this.#body?.resume()
    this.#lingering = setTimeout(() => this.#reset(ErrorCode.NoError), this.#lingerMs)
  }

  #reset(code: ErrorCode): void {
    if (this.#closed) return
    this.isReset = true
    this.#home.output.send(resetFrame(this.id, code))
    this.#close()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#lingering)
    this.#pending = []
    this.#pendingBytes = 0
    this.#home.closed(this)
    this.#tunnel?.destroy()
  }
}

const noChunk = Buffer.alloc(0)
