import type { GatewayMessage, OpenLease } from '../../domain/standby/lease-protocol.ts'

/** What a leased instance knows of its service and its host, and tells them. */
export interface LeaseOwner {
  readonly nowMs: () => number
  readonly freshMs: number
  /** How long a connection that was slept through waits for the instance. */
  readonly maxWaitMs: number
  /** The application's ports that the service publishes. */
  ports(): readonly number[]
  /** The hard limit of the service. */
  hardLimit(): number
  send(message: GatewayMessage): void
  /** Called when the instance opened, did not open, or has room again: the queue is then looked at. */
  moved(change: { readonly all: boolean }): void
  /** Called when idle connections to that boot can no longer be used. */
  forget(boot: number): void
  woken(woken: NonNullable<OpenLease['woken']>): void
}
