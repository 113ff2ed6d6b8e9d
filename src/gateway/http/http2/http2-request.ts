import { Exchange } from '../exchange.ts'
import type { Forward } from '../exchange.ts'
import { forwardExactly } from '../forward/exact-forward.ts'
import { forwardGrpc } from '../forward/grpc-forward.ts'
import { forwardPlain } from '../forward/plain-forward.ts'
import { webSocketForward } from '../forward/websocket-forward.ts'
import type { FrontParts } from '../front-parts.ts'
import { headTooLarge, readRequestHead } from '../request-head.ts'
import type { ReceivedHead, RequestHead } from '../request-head.ts'
import type { Http2Stream } from './http2-stream.ts'

/** Begins the exchange of a stream's request. `received` is undefined if its head is too large. */
export function serveRequest(
  parts: FrontParts,
  stream: Http2Stream,
  received: ReceivedHead | undefined,
): void {
  const exchange = new Exchange(parts, stream, received?.method ?? '')
  stream.exchange = exchange
  try {
    if (received === undefined) throw headTooLarge(parts.limits)
    const head = readRequestHead(received, parts.limits)
    if (received.hasBody === true) stream.leftBytes = head.bodyBytes
    exchange.run(head, forwardOf(head, stream))
  } catch (error) {
    exchange.failWith(error)
  }
}

function forwardOf(head: RequestHead, stream: Http2Stream): Forward {
  if (head.webSocket) return webSocketForward(stream)
  if (head.grpc) return forwardGrpc
  return head.bodyBytes === undefined || head.expectsContinue || head.target === '*'
    ? forwardExactly
    : forwardPlain
}
