export interface ListenerLimits {
  /** The longest time from the accepted connection to the end of the handshake, the first byte included. */
  readonly handshakeMs: number
  /** The wait before a port that could not be bound is tried again. */
  readonly bindRetryMs: number
}

export const defaultListenerLimits: ListenerLimits = {
  handshakeMs: 10_000,
  bindRetryMs: 5_000,
}
