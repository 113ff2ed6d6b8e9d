/** Bounds on what clients and instances may cost the gateway. Tests give other values. */
export interface HttpLimits {
  /** The size of a request's head as a whole: more is answered with 431. */
  readonly maxHeaderBytes: number
  readonly maxHeaderCount: number
  readonly maxTargetBytes: number
  /**
   * The time for the complete head, counted from the accepted connection or from the first byte of a later
   * request.
   */
  readonly headerMs: number
  /** The time without a byte of a request's body while the gateway could take some. */
  readonly requestBodyIdleMs: number
  /** How long a client may take nothing of what is ready for it. */
  readonly clientStallMs: number
  /** The time between two requests of a connection. */
  readonly keepAliveMs: number
  readonly maxRequestsPerConnection: number
  /** Requests of HTTP/1.1 that were sent before the answers to earlier ones; browsers send none. */
  readonly maxPipelined: number
  readonly maxConcurrentStreams: number
  /**
   * Streams that a client reset before their answer, within `resetWindowMs`. With more, the connection is
   * ended.
   */
  readonly maxResets: number
  readonly resetWindowMs: number
  /**
   * How much is held of a body that nobody takes. All streams of a connection may hold as much at once: Node
   * gives the window of the connection back as bytes arrive, and that of the stream as they are taken.
   */
  readonly streamWindowBytes: number
  /** The window for bytes on their way; it bounds nothing that is held. */
  readonly connectionWindowBytes: number
  /** The time until an instance answers with a head. It is long because long polling is legitimate. */
  readonly responseHeaderMs: number
  /**
   * The time between two bytes of an instance's answer. An event stream without a comment line in an hour is
   * dead.
   */
  readonly responseIdleMs: number
  readonly maxResponseHeaderBytes: number
  /** The number of 1xx answers before the final one. */
  readonly maxInformational: number
  /** The time without a byte in either direction. */
  readonly webSocketIdleMs: number
  /** The time between the gateway's close frame and the end of a WebSocket's connection. */
  readonly webSocketCloseMs: number
  readonly connectMs: number
  /** The time for an instance that was just started, until its port accepts connections. */
  readonly freshConnectMs: number
  readonly maxConnectionsPerBoot: number
  readonly maxIdleConnectionsPerBoot: number
  /** Shorter than the five seconds after which common servers close idle connections. */
  readonly upstreamIdleMs: number
  /**
   * How long a body that nobody wants is read on, so that the client sees the answer before the connection
   * ends.
   */
  readonly lingerMs: number
}

export const defaultHttpLimits: HttpLimits = {
  maxHeaderBytes: 16_384,
  maxHeaderCount: 200,
  maxTargetBytes: 8_192,
  headerMs: 10_000,
  requestBodyIdleMs: 30_000,
  clientStallMs: 120_000,
  keepAliveMs: 65_000,
  maxRequestsPerConnection: 100_000,
  maxPipelined: 32,
  maxConcurrentStreams: 128,
  maxResets: 200,
  resetWindowMs: 10_000,
  streamWindowBytes: 256 << 10,
  connectionWindowBytes: 4 << 20,
  responseHeaderMs: 300_000,
  responseIdleMs: 3_600_000,
  maxResponseHeaderBytes: 65_536,
  maxInformational: 16,
  webSocketIdleMs: 3_600_000,
  webSocketCloseMs: 5_000,
  connectMs: 3_000,
  freshConnectMs: 10_000,
  maxConnectionsPerBoot: 8_192,
  maxIdleConnectionsPerBoot: 256,
  upstreamIdleMs: 4_000,
  lingerMs: 2_000,
}
