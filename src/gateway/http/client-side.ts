import type { Readable } from 'node:stream'
import type { ClientConnection } from './client-connection.ts'

/**
 * One request's way back to its client, the same for both protocols. Fields are flat: name, value, name,
 * value.
 */
export interface ClientSide {
  readonly connection: ClientConnection
  readonly body: Readable
  /** Of the body and of the answer: what the other side does not take. */
  readonly heldBytes: number
  /** A final head was given; nothing but its body can follow. */
  readonly headGiven: boolean
  /** Known once the body has ended. */
  trailers(): readonly string[]
  /** Only where the client expects it: it may send its body. */
  continue(): void
  inform(status: number, fields: readonly string[]): void
  /**
   * The answer is our own, and what is left of the request is of no interest: its connection may have to end
   * for that.
   */
  abandonBody(): void
  /** Throws where a field can not be sent. */
  head(status: number, reason: string, fields: string[]): void
  /** What was given so far goes out now, although more follows. */
  flush(): void
  /** False: wait for `onDrain`. */
  write(chunk: Buffer): boolean
  onDrain(listener: () => void): void
  end(trailers?: readonly string[]): void
  /** The answer can not be completed, and the client is to notice. */
  breakOff(): void
}
