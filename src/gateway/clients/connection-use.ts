/** What a client would lose with a connection, the least first. */
export const Standing = {
  /** Nothing is under way over it. */
  Idle: 0,
  /** It stands for as long as both sides want, like a WebSocket; it may be silent for hours. */
  Lasting: 1,
  /** A request, or a connection that was not silent just now. */
  Busy: 2,
} as const
export type Standing = (typeof Standing)[keyof typeof Standing]

/**
 * What an open connection of a client is used for, as whoever serves it tells. It is read only when room is
 * short.
 */
export interface ConnectionUse {
  readonly standing: Standing
  /** When anything happened over it last, as `performance.now()` tells. */
  readonly movedAtMs: number
  /** Bytes that are held because one of its two sides does not take them. */
  readonly heldBytes: number
  /**
   * Ends it for the sake of others, politely where its protocol has a way; whoever calls sees to it that it
   * closes then.
   */
  end(): void
}
