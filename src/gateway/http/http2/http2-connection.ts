import type { Socket } from 'node:net'
import type { ClientConnection } from '../client-connection.ts'
import type { FrontParts } from '../front-parts.ts'
import type { Watched } from '../sweep.ts'
import { AnswerFlow } from './answer-flow.ts'
import { FrameBudget } from './frame-budget.ts'
import { FrameOutput } from './frame-output.ts'
import { FrameReader, uint31 } from './frame-reader.ts'
import type { FrameTaker } from './frame-reader.ts'
import { ConnectionError, ErrorCode, Flag, FrameType, badFrame, badSize, badWindow } from './frames.ts'
import { defaultWindow, frameHead, goAwayFrame, largestStream, largestWindow } from './frames.ts'
import { resetFrame, windowFrame } from './frames.ts'
import { HeadReader, checkPriority, unpadded } from './head-reader.ts'
import type { Fields } from './head-reader.ts'
import { noTable } from './hpack-encoder.ts'
import { HpackError } from './hpack-error.ts'
import { MalformedRequest, areTrailers, receivedHead } from './http2-head.ts'
import { serveRequest } from './http2-request.ts'
import { greeting, readSettings } from './http2-settings.ts'
import { Http2Stream } from './http2-stream.ts'
import type { StreamHome } from './http2-stream.ts'
import { StreamList } from './stream-list.ts'

/** One connection of a client that speaks HTTP/2 (RFC 9113). */
export class Http2Connection implements StreamHome, FrameTaker, Watched {
  watching: Watched['watching']
  movedAtMs = performance.now()
  limitMs: number
  readonly client: ClientConnection
  readonly output: FrameOutput
  readonly flow: AnswerFlow
  readonly socket: Socket
  readonly #parts: FrontParts
  readonly #reader: FrameReader
  readonly #heads: HeadReader
  readonly #streams = new StreamList<Http2Stream>()
  readonly #budget: FrameBudget
  #hasSettings = false
  /** Whether the client has acknowledged the gateway's settings. */
  #isAcknowledged = false
  #hasSentBlock = false
  /** How many bytes of bodies the client may send now, over all streams. */
  #receiveWindow: number
  /** The highest stream that was opened, and the highest one that is served. */
  #highestStream = 0
  #lastStream = 0
  #requests = 0
  /** Whether requests after the last one that GOAWAY named are ignored. */
  #ending = false
  /** Whether nothing more is read. */
  #over = false
  #lingering: NodeJS.Timeout | undefined

  constructor(options: {
    readonly socket: Socket
    readonly client: ClientConnection
    readonly parts: FrontParts
    readonly onClosed: () => void
  }) {
    const { socket, client, parts, onClosed } = options
    const { limits } = parts
    this.socket = socket
    this.client = client
    this.#parts = parts
    this.output = new FrameOutput(socket, () => this.flow.pump())
    this.#reader = new FrameReader(this)
    this.#heads = new HeadReader(limits.maxHeaderBytes * 2)
    this.#budget = new FrameBudget(limits)
    const { sweep } = parts
    this.flow = new AnswerFlow({ streams: this.#streams, output: this.output, budget: this.#budget, sweep })
    this.limitMs = limits.headerMs
    this.#receiveWindow = Math.max(limits.connectionWindowBytes, defaultWindow)
    this.output.send(greeting(limits))
    parts.sweep.watch(this)
    socket.on('data', this.#take)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#leave()
      onClosed()
    })
  }

  /** Bytes that wait for the client outside of the requests under way. */
  get unsentBytes(): number {
    let bytes = this.output.unsentBytes
    for (const stream of this.#streams.all()) if (stream.exchange?.over === true) bytes += stream.heldBytes
    return bytes
  }

  get hasStreams(): boolean {
    return this.#streams.size > 0
  }

  /** Tells the client to send what follows over another connection. Requests that still come are served. */
  retire(): void {
    if (!this.#ending && !this.#over) this.output.send(goAwayFrame(largestStream, ErrorCode.NoError))
  }

  /** Takes no more requests, and ends the connection when those under way are answered. */
  end(): void {
    if (this.#ending || this.#over) return
    this.#ending = true
    this.output.send(goAwayFrame(this.#lastStream, ErrorCode.NoError))
    if (this.#streams.size === 0) this.#endSocket()
  }

  /** Ends the connection and its requests. */
  fail(code: ErrorCode): void {
    if (this.#over) return
    this.output.send(goAwayFrame(this.#lastStream, code))
    this.output.flush()
    this.#leave()
    this.socket.end()
    // What the client still sends is read and dropped for a while: closing at once would reset the
    // connection, perhaps before the client has read the reason.
    this.socket.resume()
    this.#lingering = setTimeout(() => this.socket.destroy(), this.#parts.limits.lingerMs)
  }

  /** The sweep found that for `limitMs` no request began or ended. */
  stuck(): void {
    if (this.#heads.openStream !== 0) return this.fail(ErrorCode.EnhanceYourCalm)
    if (this.#requests === 0) return this.fail(ErrorCode.NoError)
    if (this.#streams.size === 0) return this.end()
    const nowMs = performance.now()
    const isStalled = this.flow.hasWaiting && this.client.ongoing.size === 0
    if (isStalled && nowMs - this.flow.takenAtMs >= this.#parts.limits.clientStallMs)
      return void this.socket.destroy()
    this.movedAtMs = nowMs
    this.#parts.sweep.watch(this)
  }

  taken(stream: Http2Stream, bytes: number): void {
    stream.credit += bytes
    if (stream.requestEnded || stream.credit * 2 < this.#parts.limits.streamWindowBytes) return
    stream.receiveWindow += stream.credit
    this.output.send(windowFrame(stream.id, stream.credit))
    stream.credit = 0
  }

  /** The first block of the connection says that the blocks need no table. */
  get blockStart(): string {
    if (this.#hasSentBlock) return ''
    this.#hasSentBlock = true
    return noTable
  }

  closed(stream: Http2Stream): void {
    this.#streams.remove(stream)
    this.client.openStreams -= 1
    if (stream.isReset) this.#streams.remember(stream.id)
    this.movedAtMs = this.#parts.sweep.nextLookMs
    if (this.#ending && this.#streams.size === 0) this.#endSocket()
  }

  #endSocket(): void {
    if (this.#over) return
    this.output.flush()
    this.#leave()
    this.socket.resume()
    this.socket.setTimeout(this.#parts.limits.clientStallMs, () => this.socket.destroy())
    this.socket.destroySoon()
  }

  #leave(): void {
    this.#over = true
    clearTimeout(this.#lingering)
    this.#parts.sweep.unwatch(this)
    for (const stream of this.#streams.all()) stream.gone()
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#over) return
    try {
      this.#reader.take(chunk)
    } catch (error) {
      if (error instanceof ConnectionError) this.fail(error.code)
      else if (error instanceof HpackError) this.fail(ErrorCode.CompressionError)
      else {
        this.#parts.onError(error)
        this.fail(ErrorCode.InternalError)
      }
    }
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (this.#over) return
    this.#checkTurn(type, id)
    switch (type) {
      case FrameType.Data:
        // Only frames of a body that are empty or padded are taken whole.
        return this.#data(id, unpadded(flags, bytes, from, to), to - from, (flags & Flag.EndStream) !== 0)
      case FrameType.Headers:
        return this.#headers(flags, id, bytes, from, to)
      case FrameType.Continuation:
        return this.#fields(this.#heads.continue(flags, bytes.subarray(from, to)))
      case FrameType.WindowUpdate:
        return this.#windowUpdate(id, bytes, from, to)
      case FrameType.Reset:
        return this.#reset(id, to - from)
      case FrameType.Priority:
        this.#budget.idle()
        return checkPriority(id, bytes, from, to)
      case FrameType.PushPromise:
        throw badFrame('a client does not push')
      case FrameType.Settings:
      case FrameType.Ping:
      case FrameType.GoAway:
        this.#budget.idle()
        if (id !== 0) throw badFrame('a frame about the connection is for a stream')
        if (type === FrameType.Settings) this.#settings(flags, bytes, from, to)
        else if (type === FrameType.Ping) this.#ping(flags, bytes, from, to)
        else if (to - from < 8) throw badSize('a goodbye has at least 8 bytes')
        return
      default:
        this.#budget.idle()
    }
  }

  data(id: number, piece: Buffer, ended: boolean): void {
    if (this.#over) return
    this.#checkTurn(FrameType.Data, id)
    this.#data(id, piece, piece.length, ended)
  }

  /** Whether a frame of this type may come now. */
  #checkTurn(type: number, id: number): void {
    if (!this.#hasSettings && type !== FrameType.Settings) throw badFrame('the settings are missing')
    if (this.#heads.openStream !== 0 && (type !== FrameType.Continuation || id !== this.#heads.openStream)) {
      throw badFrame('a head is interrupted')
    }
  }

  /** `length`: the bytes of the content, and of its padding. */
  #data(id: number, content: Buffer, length: number, ended: boolean): void {
    if (id === 0) throw badFrame('a body is for no stream')
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0) throw badWindow('too much was sent')
    this.#reopen()
    const stream = this.#streams.find(id)
    if (stream === undefined) return this.#dataOfNone(id)
    if (stream.requestEnded) return this.#failStream(stream, ErrorCode.StreamClosed)
    if (stream.receiveWindow < length) return this.#failStream(stream, ErrorCode.FlowControlError)
    stream.receiveWindow -= length
    if (stream.leftBytes !== undefined) {
      stream.leftBytes -= content.length
      if (stream.leftBytes < 0 || (ended && stream.leftBytes > 0)) {
        return this.#failStream(stream, ErrorCode.ProtocolError)
      }
    }
    if (content.length === 0 && !ended) this.#budget.idle()
    if (content.length < length) this.taken(stream, length - content.length)
    if (content.length > 0) stream.received(content)
    if (ended) stream.receivedEnd()
  }

  #reopen(): void {
    const { connectionWindowBytes } = this.#parts.limits
    if (this.#receiveWindow * 2 > connectionWindowBytes) return
    this.output.send(windowFrame(0, connectionWindowBytes - this.#receiveWindow))
    this.#receiveWindow = connectionWindowBytes
  }

  /** Whether no request has begun the stream. */
  #isIdle(id: number): boolean {
    return id > this.#highestStream || id % 2 === 0
  }

  #dataOfNone(id: number): void {
    if (this.#isIdle(id)) throw badFrame('a body comes before its request')
    this.#budget.idle()
    if (!this.#streams.isRemembered(id)) this.#refuse(id, ErrorCode.StreamClosed)
  }

  #headers(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (id % 2 === 0) throw badFrame('a request is for no stream of a client')
    const isKnown = this.#streams.find(id) !== undefined || this.#streams.isRemembered(id)
    if (id <= this.#highestStream && !isKnown) {
      throw new ConnectionError(ErrorCode.StreamClosed, 'a request is for a stream that is closed')
    }
    this.#fields(this.#heads.begin(flags, id, bytes, from, to))
    if (this.#heads.openStream === 0) return
    // The time of the first head began with the connection.
    if (this.#requests > 0) this.movedAtMs = performance.now()
    this.limitMs = this.#parts.limits.headerMs
  }

  /** Takes the fields of a head, or of trailers. They are undefined if more of them follows. */
  #fields(fields: Fields | undefined): void {
    if (fields === undefined) return
    const { limits, sweep } = this.#parts
    const { stream: id } = fields
    this.movedAtMs = sweep.nextLookMs
    this.limitMs = limits.keepAliveMs
    const stream = this.#streams.find(id)
    if (stream !== undefined) return this.#requestTrailers(stream, fields)
    if (id <= this.#highestStream) return this.#budget.idle()
    this.#highestStream = id
    if (this.#ending) {
      this.#streams.remember(id)
      return this.#budget.idle()
    }
    this.#lastStream = id
    this.#requests += 1
    this.#budget.request()
    this.#request(fields)
    if (this.#requests === limits.maxRequestsPerConnection) this.end()
  }

  #request({ stream: id, ended, list }: Fields): void {
    const { limits } = this.#parts
    if (this.#streams.size >= limits.maxConcurrentStreams) return this.#refuse(id, ErrorCode.RefusedStream)
    let received
    try {
      received = list === 'too-large' ? undefined : receivedHead(list, ended)
    } catch (error) {
      if (error instanceof MalformedRequest) return this.#refuse(id, ErrorCode.ProtocolError)
      throw error
    }
    const stream = new Http2Stream({
      id,
      home: this,
      isHead: received?.method === 'HEAD',
      isTunnel: received?.webSocket === true,
      ended,
      window: this.flow.streamWindow,
      receiveWindow: Math.max(limits.streamWindowBytes, defaultWindow),
      lingerMs: limits.lingerMs,
    })
    this.#streams.add(stream)
    this.client.openStreams += 1
    serveRequest(this.#parts, stream, received)
  }

  #requestTrailers(stream: Http2Stream, { ended, list }: Fields): void {
    if (stream.requestEnded) return this.#failStream(stream, ErrorCode.StreamClosed)
    const isShort = stream.leftBytes !== undefined && stream.leftBytes > 0
    if (!ended || isShort || list === 'too-large' || !areTrailers(list)) {
      return this.#failStream(stream, ErrorCode.ProtocolError)
    }
    stream.receivedEnd(list)
  }

  #failStream(stream: Http2Stream, code: ErrorCode): void {
    stream.gone(code)
    this.#budget.reset()
  }

  /** Resets a stream that is not, or no longer, there. */
  #refuse(id: number, code: ErrorCode): void {
    this.#streams.remember(id)
    this.output.send(resetFrame(id, code))
    this.#budget.reset()
  }

  #reset(id: number, length: number): void {
    if (length !== 4) throw badSize('a reset has 4 bytes')
    if (this.#isIdle(id)) throw badFrame('a reset is for no stream')
    const stream = this.#streams.find(id)
    if (stream === undefined) return this.#budget.idle()
    stream.gone()
    if (!stream.isAnswered) this.#budget.reset()
  }

  #settings(flags: number, bytes: Buffer, from: number, to: number): void {
    if ((flags & Flag.Ack) !== 0) {
      if (from !== to) throw badSize('an acknowledgement has no settings')
      if (this.#isAcknowledged) throw badFrame('nothing is left to acknowledge')
      this.#isAcknowledged = true
      return
    }
    this.#hasSettings = true
    const window = readSettings(bytes, from, to)
    this.output.send(frameHead(0, FrameType.Settings, Flag.Ack, 0))
    if (window !== undefined) this.flow.setStreamWindow(window)
  }

  #ping(flags: number, bytes: Buffer, from: number, to: number): void {
    if (to - from !== 8) throw badSize('a ping has 8 bytes')
    if ((flags & Flag.Ack) !== 0) return
    this.output.send(frameHead(8, FrameType.Ping, Flag.Ack, 0) + bytes.toString('latin1', from, to))
  }

  #windowUpdate(id: number, bytes: Buffer, from: number, to: number): void {
    this.#budget.idle()
    if (to - from !== 4) throw badSize('a window update has 4 bytes')
    const more = uint31(bytes, from)
    if (id === 0) {
      if (more === 0) throw badFrame('a window is opened by nothing')
      return this.flow.open(more)
    }
    if (this.#isIdle(id)) throw badFrame('a window is of no stream')
    const stream = this.#streams.find(id)
    if (stream === undefined) return
    if (more === 0) return this.#failStream(stream, ErrorCode.ProtocolError)
    stream.window += more
    if (stream.window > largestWindow) return this.#failStream(stream, ErrorCode.FlowControlError)
    if (stream.isWaiting) this.flow.pump()
  }
}
