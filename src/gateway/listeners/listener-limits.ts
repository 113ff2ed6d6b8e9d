export interface ListenerLimits {
  /** A client address; of IPv6 the block of /64 that one customer has. */
  readonly connectionsPerSource: number
  /** Each costs some file descriptors and, with TLS, about 50 KB. */
  readonly connections: number
  /** From the accepted connection to the end of the handshake, the first byte included. */
  readonly handshakeMs: number
  /** A port that could not be bound is tried again. */
  readonly bindRetryMs: number
}

export const defaultListenerLimits: ListenerLimits = {
  connectionsPerSource: 1_000,
  connections: 50_000,
  handshakeMs: 10_000,
  bindRetryMs: 5_000,
}
