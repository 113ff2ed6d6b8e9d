import type { StartKind } from '../../domain/instance/start-report.ts'
import type { RequestHead } from './request-head.ts'

export const HttpProtocol = { Http1: 'http/1.1', Http2: 'h2', WebSocket: 'websocket', Grpc: 'grpc' } as const
export type HttpProtocol = (typeof HttpProtocol)[keyof typeof HttpProtocol]

/** What is reported of every request when it is over, for the metrics. */
export interface RequestReport {
  /** The service of the request. It is absent if none was found. */
  readonly serviceUuid: string | undefined
  /** The rollout whose new version admitted the request, or refused it; undefined if there is none. */
  readonly rolloutUuid: string | undefined
  readonly instanceUuid: string | undefined
  readonly method: string
  /** The status that the client was answered; 499 if it went away before. */
  readonly status: number
  readonly protocol: HttpProtocol
  readonly totalUs: number
  readonly queuedUs: number
  readonly wake: { readonly kind: StartKind; readonly wakeUs: number } | undefined
  /** The time from passing the request on until the instance's head came. It is absent if no head came. */
  readonly upstreamUs: number | undefined
  /** An instance's fault, for which 502 or 504 was answered or an answer was broken off. */
  readonly fault: UpstreamFault | undefined
}

export const UpstreamFault = {
  Refused: 'refused',
  Reset: 'reset',
  Malformed: 'malformed',
  TooLarge: 'too-large',
  TimedOut: 'timed-out',
} as const
export type UpstreamFault = (typeof UpstreamFault)[keyof typeof UpstreamFault]

export interface RequestObserver {
  request(report: RequestReport): void
  /**
   * Called for a request that the new version of a rollout accepted no connection for, and that is now given
   * to the current one. The report is what `request` would have told if there were no other version.
   */
  fellBack?(report: RequestReport): void
}

export function protocolOf(head: RequestHead | undefined, http2: boolean): HttpProtocol {
  if (head?.webSocket === true) return HttpProtocol.WebSocket
  if (!http2) return HttpProtocol.Http1
  return head?.grpc === true ? HttpProtocol.Grpc : HttpProtocol.Http2
}
