/** A request under way to an instance, as the exchange sees it. */
export interface Forwarding {
  /** Whether the request may be sent again: that is harmless, and nothing of the answer has come. */
  readonly repeatable?: boolean
  /** Whether no byte was sent, because no connection was made. The request may then go to any instance. */
  readonly unsent?: boolean
  abort(reason: Error): void
  pause(): void
  resume(): void
  /** Called when the instance shuts down: a connection that would last has to be ended politely. */
  goAway?(): void
}

export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}
