import { loadReportIntervalMs } from '../../domain/standby/lease-protocol.ts'

export interface BalanceLimits {
  /** Requests and connections that wait for one service. */
  readonly maxQueuedPerService: number
  /**
   * All together: each holds a client's connection and some kilobytes. One user has a part of it
   * (`QueueShares`).
   */
  readonly maxQueued: number
  /**
   * A slow boot under emulation takes some seconds; clients and browsers rarely wait longer than a minute.
   */
  readonly maxWaitMs: number
  /** After a boot began, its port may not listen yet. */
  readonly freshMs: number
  /** When a client that met a hard limit or a full queue may as well ask again. */
  readonly retryAfterMs: number
  readonly loadReportMs: number
  /**
   * The routes tell of an instance before its host has heard of it, as just after its creation or start: so
   * long, and so often, is the host asked again before its word counts.
   */
  readonly unsettledMs: number
  readonly unsettledPollMs: number
  /**
   * What is connected to an instance that was deleted may end by itself, until its host says that it is gone
   * or so long.
   */
  readonly deletedMs: number
}

export const defaultBalanceLimits: BalanceLimits = {
  maxQueuedPerService: 10_000,
  maxQueued: 50_000,
  maxWaitMs: 60_000,
  freshMs: 10_000,
  retryAfterMs: 1_000,
  loadReportMs: loadReportIntervalMs,
  unsettledMs: 5_000,
  unsettledPollMs: 50,
  deletedMs: 10_000,
}
