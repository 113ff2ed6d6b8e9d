import { loadReportIntervalMs } from '../../domain/standby/lease-protocol.ts'

export interface BalanceLimits {
  /** Requests and connections that wait for one service. */
  readonly maxQueuedPerService: number
  /**
   * The same over all services. Each holds a client's connection and some kilobytes. One user may have a
   * part of them (`QueueShares`).
   */
  readonly maxQueued: number
  /**
   * A slow boot under emulation takes some seconds; clients and browsers rarely wait longer than a minute.
   */
  readonly maxWaitMs: number
  /** For this long after a boot is first heard of, its port may not listen yet. */
  readonly freshMs: number
  /** When a client that met a hard limit or a full queue may as well ask again. */
  readonly retryAfterMs: number
  readonly loadReportMs: number
  /**
   * The routes may tell of an instance before its host has heard of it, just after its creation or start.
   * For this long, and this often, the host is asked again before its refusal counts.
   */
  readonly unsettledMs: number
  readonly unsettledPollMs: number
  /**
   * How long connections to a deleted instance may take to end by themselves. They are ended earlier if the
   * host says that the instance is gone.
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
