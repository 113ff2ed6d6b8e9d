/** Bounds on what clients and instances may cost the gateway. Tests give other values. */
export interface HttpLimits {
  /** The largest size of a request's head as a whole. A larger one is answered with 431. */
  readonly maxHeaderBytes: number
  readonly maxHeaderCount: number
  readonly maxTargetBytes: number
  /**
   * How long a client may take to send the complete head. The time counts from the accepted connection, or
   * from the first byte of a later request.
   */
  readonly headerMs: number
  /** How long a request's body may send no byte while the gateway could take some. */
  readonly requestBodyIdleMs: number
  /** How long a client may accept none of the bytes that are ready for it. */
  readonly clientStallMs: number
  /** The longest time between two requests of a connection. */
  readonly keepAliveMs: number
  readonly maxRequestsPerConnection: number
  /**
   * The largest number of HTTP/1.1 requests that the full road reads before the answers to earlier ones;
   * browsers send none. The fast road reads one after the other.
   */
  readonly maxPipelined: number
  readonly maxConcurrentStreams: number
  /**
   * The largest number of streams that a client may reset, or have the gateway reset, within
   * `resetWindowMs`. With more, the connection is ended.
   */
  readonly maxResets: number
  readonly resetWindowMs: number
  /**
   * The most bytes of a body that are held while nobody takes them. Each stream of a connection may hold
   * this much at the same time: the connection's window is opened again as bytes arrive, and the stream's as
   * they are taken.
   */
  readonly streamWindowBytes: number
  /** The most bytes on their way over one connection; it bounds nothing that is held. */
  readonly connectionWindowBytes: number
  /** How long an instance may take to answer with a head. It is long because long polling is legitimate. */
  readonly responseHeaderMs: number
  /**
   * The longest time between two bytes of an instance's answer. An event stream without a comment line in
   * an hour is dead.
   */
  readonly responseIdleMs: number
  readonly maxResponseHeaderBytes: number
  /** The largest number of 1xx answers before the final one. */
  readonly maxInformational: number
  /** How long a WebSocket may carry no byte in either direction. */
  readonly webSocketIdleMs: number
  /** The longest time between the gateway's close frame and the end of a WebSocket's connection. */
  readonly webSocketCloseMs: number
  readonly connectMs: number
  /** How long an instance that was just started may take until its port accepts connections. */
  readonly freshConnectMs: number
  readonly maxConnectionsPerBoot: number
  readonly maxIdleConnectionsPerBoot: number
  /**
   * How long an idle connection to an instance is kept. Common servers close idle connections after five
   * seconds, so this is shorter.
   */
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
