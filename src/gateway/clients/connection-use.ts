/** How much a client would lose with a connection. The least comes first. */
export const Standing = {
  /** Nothing is under way over the connection. */
  Idle: 0,
  /** The connection lasts as long as both sides want, like a WebSocket; it may be silent for hours. */
  Lasting: 1,
  /** A request is under way, or the connection carried bytes a moment ago. */
  Busy: 2,
} as const
export type Standing = (typeof Standing)[keyof typeof Standing]

/**
 * What an open connection of a client is used for, as reported by the front that serves it. It is read only
 * when a connection has to be closed for another.
 */
export interface ConnectionUse {
  readonly standing: Standing
  /** When anything last happened over the connection, by `performance.now()`. */
  readonly movedAtMs: number
  /** Bytes that are held because one of the connection's two sides does not take them. */
  readonly heldBytes: number
  /**
   * The client for which a trusted proxy uses the connection now. It is absent if that is not known, or if
   * the connection is the client's own.
   */
  readonly clientBehind?: string | undefined
  /**
   * Ends the connection for the sake of others, politely if its protocol has a way. The caller makes sure
   * that it closes then.
   */
  end(): void
}
