import type { Readable } from 'node:stream'
import type { ClientConnection } from './client-connection.ts'

/**
 * The side of the client in one exchange, the same for HTTP/1.1 and HTTP/2: its request comes from here,
 * its answer goes here. Fields are flat: name, value, name, value.
 */
export interface ClientSide {
  readonly connection: ClientConnection
  readonly body: Readable
  /**
   * Bytes that wait here: of the request until the instance takes them, and of the answer until the client
   * takes them.
   */
  readonly heldBytes: number
  /** Whether a final head was given, so that only its body can follow. */
  readonly headGiven: boolean
  /** The trailers of the request, which are known once its body has ended. */
  trailers(): readonly string[]
  /** Tells the client to send its body. It is called only if the client waits to be told. */
  continue(): void
  inform(status: number, fields: readonly string[]): void
  /**
   * Called when the gateway answers by itself: the rest of the request's body is not needed. The client's
   * connection may have to end for that.
   */
  abandonBody(): void
  /** Sends the head of the answer. Throws if a field can not be sent. */
  head(status: number, reason: string, fields: string[]): void
  /** Sends what was given so far at once, although more follows. */
  flush(): void
  /**
   * Sends a piece of the body. Returns false if the caller has to wait for `onDrain`. The bytes of the
   * chunk may become others after the call.
   */
  write(chunk: Buffer): boolean
  onDrain(listener: () => void): void
  end(trailers?: readonly string[]): void
  /** Ends an answer that can not be completed, in a way that the client notices. */
  breakOff(): void
}

/** Has a side send what it was given, at the end of the event loop's turn. */
export function flushSoon(side: ClientSide): void {
  process.nextTick(flush, side)
}

function flush(side: ClientSide): void {
  side.flush()
}
