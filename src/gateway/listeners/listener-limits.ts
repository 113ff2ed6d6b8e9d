export interface ListenerLimits {
  /** From the accepted connection to the end of the handshake, the first byte included. */
  readonly handshakeMs: number
  /** A port that could not be bound is tried again. */
  readonly bindRetryMs: number
}

export const defaultListenerLimits: ListenerLimits = {
  handshakeMs: 10_000,
  bindRetryMs: 5_000,
}
