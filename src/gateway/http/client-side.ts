import type { Readable } from 'node:stream'
import type { ClientConnection } from './client-connection.ts'

/**
 * One request's way back to its client, the same for both protocols. Fields are flat: name, value, name,
 * value.
 */
export interface ClientSide {
  readonly connection: ClientConnection
  readonly body: Readable
  /** Bytes of the body and of the answer that the other side does not take. */
  readonly heldBytes: number
  /** A final head was given: nothing but its body can follow. */
  readonly headGiven: boolean
  /** The trailers of the request, which are known once its body has ended. */
  trailers(): readonly string[]
  /** Called only if the client expects it: tells the client to send its body. */
  continue(): void
  inform(status: number, fields: readonly string[]): void
  /**
   * The answer is the gateway's own, and what is left of the request is of no interest. The client's
   * connection may have to end for that.
   */
  abandonBody(): void
  /** Throws if a field can not be sent. */
  head(status: number, reason: string, fields: string[]): void
  /** Sends what was given so far at once, although more follows. */
  flush(): void
  /** Returns false if the caller has to wait for `onDrain`. */
  write(chunk: Buffer): boolean
  onDrain(listener: () => void): void
  end(trailers?: readonly string[]): void
  /** Ends an answer that can not be completed, in a way that the client notices. */
  breakOff(): void
}
