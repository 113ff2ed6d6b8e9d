import { constants } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Admission } from '../../traffic.ts'
import type { BodyRelay } from './body-relay.ts'
import type { Exchange } from '../exchange.ts'
import type { Forwarding } from '../forwarding.ts'
import type { GrpcSessions } from '../upstream/grpc-sessions.ts'
import { relayBody } from './plain-forward.ts'
import { UpstreamFault } from '../request-observer.ts'
import { flatFields, groupedFields } from '../upstream/server-fields.ts'
import { faultOf } from '../upstream/upstream-fault.ts'
import { upstreamFields } from '../upstream/upstream-fields.ts'

/** Forwards a gRPC call, both ways at once, as a stream of HTTP/2. */
export function forwardGrpc(exchange: Exchange, admission: Admission): Forwarding {
  return new GrpcForward(exchange, admission)
}

class GrpcForward implements Forwarding {
  readonly #exchange: Exchange
  readonly #sessions: GrpcSessions
  readonly #body: BodyRelay | undefined
  #session: ClientHttp2Session | undefined
  #stream: ClientHttp2Stream | undefined
  #trailers: readonly string[] = []
  #over = false

  constructor(exchange: Exchange, admission: Admission) {
    this.#exchange = exchange
    this.#sessions = exchange.parts.pools.of(admission).grpc
    this.#body = exchange.request.bodyBytes === 0 ? undefined : relayBody(exchange)
    this.#sessions.take(admission.fresh, (result) => {
      if (result instanceof Error) this.#fail(result)
      else exchange.attempt(() => this.#send(result))
    })
  }

  get unsent(): boolean {
    return this.#stream === undefined
  }

  abort(): void {
    if (this.#over) return
    this.#over = true
    this.#body?.destroy()
    this.#stream?.close(constants.NGHTTP2_CANCEL)
    this.#release()
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  #send(session: ClientHttp2Session): void {
    this.#session = session
    if (this.#over) return this.#release()
    const { request, client, parts } = this.#exchange
    const { fields, requestId } = upstreamFields(request, client.connection, this.#exchange.trace?.upstream)
    this.#exchange.forwarded(requestId)
    const headers = {
      ':method': request.method,
      ':path': request.target,
      ':scheme': 'http',
      ':authority': request.authority,
      // This field says that trailers are understood; gRPC servers insist on it.
      te: 'trailers',
      ...groupedFields(fields.slice(2)),
    }
    const stream = session.request(headers, { endStream: this.#body === undefined })
    this.#stream = stream
    stream.setTimeout(parts.limits.responseIdleMs, () => {
      this.#exchange.upstreamFailed(UpstreamFault.TimedOut, new Error('the instance is silent'))
    })
    stream.on('headers', (fields) => this.#exchange.inform(fields[':status'] ?? 0, flatFields(fields)))
    stream.on('response', (fields) => {
      this.#exchange.answer(fields[':status'] ?? 0, '', flatFields(fields))
    })
    stream.on('data', (chunk: Buffer) => this.#exchange.data(chunk))
    stream.on('trailers', (fields: IncomingHttpHeaders) => {
      this.#trailers = flatFields(fields)
    })
    stream.on('end', () => this.#end(stream))
    stream.on('error', (error) => this.#fail(error))
    stream.on('close', () => this.#fail(new Error('the stream was closed')))
    this.#pass(stream)
  }

  #pass(stream: ClientHttp2Stream): void {
    const body = this.#body
    if (body === undefined) return
    body.on('data', (chunk: Buffer) => {
      if (!stream.write(chunk)) body.pause()
    })
    stream.on('drain', () => body.resume())
    body.on('end', () => stream.end())
  }

  #end(stream: ClientHttp2Stream): void {
    if (this.#over || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return
    this.#over = true
    // An answer may end before its request. The rest of the request is not needed then.
    this.#body?.destroy()
    this.#exchange.end(this.#trailers)
    if (!stream.writableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
    this.#release()
  }

  #fail(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#body?.destroy()
    this.#release()
    this.#exchange.upstreamFailed(faultOf(error), error)
  }

  #release(): void {
    if (this.#session !== undefined) this.#sessions.release(this.#session)
    this.#session = undefined
  }
}
