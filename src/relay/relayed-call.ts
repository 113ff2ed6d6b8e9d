import { constants } from 'node:http2'
import type {
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  ServerHttp2Stream,
} from 'node:http2'
import { readHead } from './call-head.ts'
import type { CallHead } from './call-head.ts'
import { FrameReader, framed } from './grpc-frame.ts'
import { GrpcCode, GrpcStatus, invalid, statusFields, unavailable } from './grpc-status.ts'
import type { HostShare } from './host-share.ts'
import type { CallScope } from './relayed-methods.ts'
import type { TemporalSession } from './temporal-session.ts'

/** The largest message of a host. Temporal takes no larger one either. */
const maxRequestBytes = 4 * 1024 * 1024
/** The largest message of Temporal. A task has an input and the details of a heartbeat, of 2 MiB each. */
const maxAnswerBytes = 8 * 1024 * 1024
/** How long Temporal's own word about a deadline is waited for. */
const deadlineMarginMs = 1_000
/** How long a host may take to read an answer, and to end a request that is answered already. */
const lingerMs = 10_000

const answerHead = { ':status': 200, 'content-type': 'application/grpc', 'grpc-accept-encoding': 'identity' }
/** What is passed on of what Temporal says at the end of a call. */
const endFields = ['grpc-status', 'grpc-message', 'grpc-status-details-bin']

type AnswerFields = IncomingHttpHeaders & IncomingHttpStatusHeader

export interface CallParts {
  readonly stream: ServerHttp2Stream
  readonly scope: CallScope
  /** The call has begun in it, and ends in it. */
  readonly share: HostShare
  readonly session: TemporalSession
  /** Called once if the relay refuses the call by itself. */
  readonly onRefused: (status: GrpcStatus) => void
  /** Called once the stream is closed. */
  readonly onEnd: () => void
}

/**
 * One call of a host. It has the states below; from each of them it may go to `answered` at once, by a
 * refusal, the deadline or the end of the relay, and to `closed` if the host gives the call up. Whenever it
 * leaves `asked` without Temporal's answer, the call at Temporal is cancelled.
 *
 *     reading ──► asked ──► answered ──► closed
 *
 * `reading`: the host's message comes in. `asked`: Temporal has the call. `answered`: the host has its answer
 * or is getting it. `closed`: the stream is over, and all that the call held is given back.
 */
export class RelayedCall {
  readonly #parts: CallParts
  readonly #request: FrameReader
  #head: CallHead | undefined
  #deadlineMs = 0
  #timer: NodeJS.Timeout | undefined
  #reservedBytes = 0
  #upstream: ClientHttp2Stream | undefined
  #isAnswered = false

  constructor(parts: CallParts) {
    this.#parts = parts
    this.#request = new FrameReader({
      limitBytes: maxRequestBytes,
      reserve: (bytes) => {
        if (!parts.share.reserve(bytes)) return false
        this.#reservedBytes = bytes
        return true
      },
    })
    parts.stream.on('error', () => undefined)
    parts.stream.on('close', () => this.#close())
  }

  /** True while the call waits for work at Temporal, or its message is not complete. */
  get isIdle(): boolean {
    return !this.#isAnswered && (this.#upstream === undefined || this.#head?.method.waits === true)
  }

  start(headers: IncomingHttpHeaders): void {
    const head = readHead(headers)
    if (head instanceof GrpcStatus) return this.refuse(head)
    if (head.method.waits) {
      const refusal = this.#parts.share.beginWait()
      if (refusal !== undefined) return this.refuse(refusal)
    }
    this.#head = head
    this.#deadlineMs = performance.now() + head.limitMs
    this.#timer = setTimeout(() => {
      this.end(new GrpcStatus(GrpcCode.DeadlineExceeded, 'The time of the call is over.'))
    }, head.limitMs + deadlineMarginMs)
    const { stream } = this.#parts
    stream.on('data', (piece: Buffer) => {
      if (this.#isAnswered) return
      const refusal = this.#request.push(piece)
      if (refusal !== undefined) this.refuse(refusal)
    })
    stream.on('end', () => {
      if (!this.#isAnswered) this.#ask(head)
    })
  }

  /** Ends the call with a status that the relay itself gives because of what the host sent. */
  refuse(status: GrpcStatus): void {
    this.#parts.onRefused(status)
    this.end(status)
  }

  /** Answers with a status and no message. */
  end(status: GrpcStatus): void {
    this.#answer(statusFields(status))
  }

  /** Ends the call without waiting for the host to read its answer. */
  drop(status: GrpcStatus): void {
    this.end(status)
    setImmediate(() => this.#parts.stream.close(constants.NGHTTP2_CANCEL))
  }

  #ask(head: CallHead): void {
    const message = this.#request.end()
    if (message instanceof GrpcStatus) return this.refuse(message)
    const passed = readable(() => head.method.request(message, this.#parts.scope))
    if (passed instanceof GrpcStatus) return this.refuse(passed)
    try {
      this.#upstream = this.#parts.session.request({
        ':method': 'POST',
        ':path': head.path,
        te: 'trailers',
        'content-type': 'application/grpc',
        'grpc-timeout': `${Math.max(1, Math.ceil(this.#deadlineMs - performance.now()))}m`,
        'user-agent': 'roost-relay',
        ...head.passed,
      })
    } catch {
      // The connection broke in this moment.
      return this.end(lostTemporal())
    }
    this.#listen(this.#upstream, head)
    this.#upstream.end(framed(passed))
  }

  #listen(upstream: ClientHttp2Stream, head: CallHead): void {
    const answer = new FrameReader({ limitBytes: maxAnswerBytes, reserve: () => true })
    let fields: AnswerFields = {}
    let hasMessage = false
    let isUnreadable = false
    upstream.on('response', (first) => (fields = first))
    upstream.on('trailers', (last: IncomingHttpHeaders) => (fields = { ...fields, ...last }))
    upstream.on('data', (piece: Buffer) => {
      hasMessage = true
      isUnreadable ||= answer.push(piece) !== undefined
    })
    upstream.on('error', () => undefined)
    upstream.on('close', () => {
      if (this.#isAnswered) return
      if (fields['grpc-status'] === undefined) return this.end(lostTemporal())
      if (fields['grpc-status'] !== String(GrpcCode.Ok)) return this.#answer(onlyEnd(fields))
      const message = hasMessage && !isUnreadable ? answer.end() : unreadableAnswer()
      const { method } = head
      const passed =
        message instanceof GrpcStatus
          ? unreadableAnswer()
          : readable(() => method.answer?.(message, this.#parts.scope) ?? message, unreadableAnswer)
      if (passed instanceof GrpcStatus) return this.end(passed)
      this.#answer(onlyEnd(fields), framed(passed))
    })
  }

  /** Writes the answer: a message with what follows it, or only the latter. */
  #answer(last: Readonly<Record<string, string>>, frame?: Buffer): void {
    const { stream } = this.#parts
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#upstream?.close(constants.NGHTTP2_CANCEL)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), lingerMs)
    if (frame === undefined) return answerWithoutMessage(stream, last)
    if (stream.destroyed || stream.closed) return
    stream.respond(answerHead, { waitForTrailers: true })
    // If the listener has a handler of `request`, too, Node would send empty trailers before these.
    stream.removeAllListeners('wantTrailers')
    stream.on('wantTrailers', () => {
      if (!stream.destroyed && !stream.closed) stream.sendTrailers(last)
    })
    stream.end(frame)
  }

  #close(): void {
    this.#isAnswered = true
    clearTimeout(this.#timer)
    this.#upstream?.close(constants.NGHTTP2_CANCEL)
    if (this.#head?.method.waits === true) this.#parts.share.endWait()
    this.#parts.share.end(this.#reservedBytes)
    this.#parts.onEnd()
  }
}

/** Answers a stream with a status, whether or not its request has ended. */
export function answerWithoutMessage(
  stream: ServerHttp2Stream,
  last: Readonly<Record<string, string>>,
): void {
  if (stream.destroyed || stream.closed) return
  stream.respond({ ...answerHead, ...last }, { endStream: true })
  // The host need not send the rest of its request.
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}

/** Does what reads a message. If that can not be read, returns a status instead. */
function readable<Result>(
  read: () => Result,
  otherwise: () => GrpcStatus = () => invalid('The message can not be read.'),
): Result | GrpcStatus {
  try {
    return read()
  } catch {
    return otherwise()
  }
}

function onlyEnd(fields: AnswerFields): Readonly<Record<string, string>> {
  return Object.fromEntries(
    endFields.flatMap((name) => {
      const value = fields[name]
      return value === undefined ? [] : [[name, String(value)]]
    }),
  )
}

function lostTemporal(): GrpcStatus {
  return unavailable('Temporal can not be reached; try again.')
}

function unreadableAnswer(): GrpcStatus {
  return new GrpcStatus(GrpcCode.Internal, "Temporal's answer can not be read.")
}
