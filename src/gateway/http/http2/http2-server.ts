import { constants, performServerHandshake } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { Standing } from '../../clients/connection-use.ts'
import type { ConnectionUse } from '../../clients/connection-use.ts'
import type { ClientConnection } from '../client-connection.ts'
import { forwardExactly } from '../forward/exact-forward.ts'
import { Exchange } from '../exchange.ts'
import type { Forward } from '../exchange.ts'
import type { FrontParts } from '../front-parts.ts'
import { forwardGrpc } from '../forward/grpc-forward.ts'
import { isField } from '../field-lines.ts'
import { HttpFailure } from '../http-failure.ts'
import { HttpUse } from '../http-use.ts'
import { Http2Side } from './http2-side.ts'
import { forwardPlain } from '../forward/plain-forward.ts'
import { readRequestHead } from '../request-head.ts'
import type { ReceivedHead, RequestHead } from '../request-head.ts'
import { webSocketForward } from '../forward/websocket-forward.ts'

/** Speaks HTTP/2 on connections that are given to it one by one. */
export class Http2Server {
  readonly #parts: FrontParts
  readonly #sessions = new Map<ServerHttp2Session, ClientConnection>()
  #retired = false

  constructor(parts: FrontParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#sessions.size
  }

  serve(socket: TLSSocket, connection: ClientConnection): ConnectionUse {
    const { limits } = this.#parts
    const session = performServerHandshake(socket, {
      maxHeaderListPairs: limits.maxHeaderCount + pseudoHeaders,
      // Opening streams and resetting them at once costs a client nothing, and the gateway a request each.
      streamResetBurst: limits.maxResets,
      // Node accepts a repeated field here as in HTTP/1.1. The gateway itself checks the fields that
      // matter.
      strictSingleValueFields: false,
      streamResetRate: Math.ceil((limits.maxResets * 1_000) / limits.resetWindowMs),
      settings: {
        enableConnectProtocol: true,
        initialWindowSize: limits.streamWindowBytes,
        maxConcurrentStreams: limits.maxConcurrentStreams,
        maxHeaderListSize: limits.maxHeaderBytes * 2,
      },
    })
    this.#sessions.set(session, connection)
    session.setLocalWindowSize(limits.connectionWindowBytes)
    let streams = 0
    session.on('stream', (stream, headers, flags, rawHeaders) => {
      streams += 1
      if (streams === limits.maxRequestsPerConnection) session.close()
      // Requests that came in the same packet are served too: the GOAWAY names the last one of them.
      else if (this.#retired) setImmediate(() => session.close())
      this.#stream(stream, { headers, raw: rawHeaders, ended: (flags & endStreamFlag) !== 0 }, connection)
    })
    session.setTimeout(limits.keepAliveMs, () => {
      if (connection.ongoing.size === 0) session.close()
    })
    // A head that is not sent, or never ends, opens no stream, so no limit of a stream would end it.
    const first = setTimeout(() => {
      if (streams === 0) session.destroy()
    }, limits.headerMs)
    session.on('error', () => session.destroy())
    session.on('close', () => {
      clearTimeout(first)
      this.#sessions.delete(session)
      for (const ongoing of connection.ongoing) ongoing.clientGone()
    })
    return new HttpUse(connection, {
      hasUnsent: () => connection.openStreams > 0,
      // What is held of a stream whose answer is over is not known here.
      unsentBytes: () => 0,
      end: (standing) => {
        if (standing === Standing.Busy) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
        else session.close()
      },
    })
  }

  /**
   * From now on a session takes requests once more, and then tells its client by GOAWAY which one was the
   * last. A GOAWAY without a last request, which RFC 9113 (6.8) recommends as the first step, is not in
   * Node's reach: after any GOAWAY of its own Node ignores new requests.
   */
  retire(): void {
    this.#retired = true
  }

  drain(): void {
    for (const session of this.#sessions.keys()) session.close()
  }

  close(): void {
    for (const session of this.#sessions.keys()) session.destroy()
  }

  #stream(stream: ServerHttp2Stream, received: ReceivedStream, connection: ClientConnection): void {
    const { limits } = this.#parts
    const { headers } = received
    const method = headers[':method'] ?? ''
    const grpc = headers['content-type']?.startsWith('application/grpc') === true
    const side = new Http2Side(stream, connection, { grpc })
    const exchange = new Exchange(this.#parts, side, method)
    stream.on('error', () => undefined)
    stream.on('aborted', () => exchange.clientGone())
    connection.openStreams += 1
    stream.on('close', () => {
      connection.openStreams -= 1
      exchange.clientGone()
    })
    try {
      const head = readRequestHead(receivedHead(received), limits)
      exchange.run(head, forwardOf(head, side))
    } catch (error) {
      exchange.failWith(error)
    }
    if (exchange.over) stream.resume()
  }
}

interface ReceivedStream {
  readonly headers: IncomingHttpHeaders
  readonly raw: readonly string[]
  readonly ended: boolean
}

const pseudoHeaders = 5
const endStreamFlag = constants.NGHTTP2_FLAG_END_STREAM

function receivedHead({ headers, raw, ended }: ReceivedStream): ReceivedHead {
  const method = headers[':method'] ?? ''
  const webSocket = method === 'CONNECT' && headers[':protocol'] === 'websocket'
  return {
    method: webSocket ? 'GET' : method,
    target: headers[':path'] ?? '/',
    fields: withoutPseudoHeaders(raw),
    authority: headers[':authority'],
    // The bytes of a WebSocket, which pass both ways, are not a body.
    hasBody: !ended && !webSocket,
    webSocket,
  }
}

function withoutPseudoHeaders(raw: readonly string[]): string[] {
  const fields: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? ''
    if (name.startsWith(':')) continue
    const value = raw[index + 1] ?? ''
    // The fields become lines of HTTP/1.1. Node lets no other names and values through; a line must not
    // depend on that.
    if (!isField(name, value)) throw new HttpFailure(400, 'A header of the request is not valid.')
    fields.push(name, value)
  }
  return fields
}

function forwardOf(head: RequestHead, side: Http2Side): Forward {
  if (head.webSocket) return webSocketForward(side)
  if (head.grpc) return forwardGrpc
  return head.bodyBytes === undefined || head.expectsContinue || head.target === '*'
    ? forwardExactly
    : forwardPlain
}
