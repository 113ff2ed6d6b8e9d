import { retireDrainMs } from '../../domain/rollout/plan.ts'
import { loadReportIntervalMs } from '../../domain/standby/lease-protocol.ts'

export interface BalanceLimits {
  /** The largest number of requests and connections that wait for one service. */
  readonly maxQueuedPerService: number
  /**
   * The largest number that wait for all services together. Each holds a client's connection and some
   * kilobytes. One user may take only a part of them (`QueueShares`).
   */
  readonly maxQueued: number
  /**
   * How long a request or connection waits for an instance. A slow boot under emulation takes some seconds;
   * clients and browsers rarely wait longer than a minute.
   */
  readonly maxWaitMs: number
  /**
   * How long a boot counts as fresh after the gateway first hears of it. The port of a fresh boot may not
   * listen yet.
   */
  readonly freshMs: number
  /** After how long a client that met a hard limit or a full queue is told to ask again. */
  readonly retryAfterMs: number
  readonly loadReportMs: number
  /**
   * How long, and at which interval, a host that refuses is asked again before its refusal counts. Just
   * after an instance is created or started, the routes may know of it before its host does.
   */
  readonly unsettledMs: number
  readonly unsettledPollMs: number
  /**
   * How long what is open at an instance may take to end after the instance left its service. Its host ends
   * it earlier: at once if the instance is deleted, and after `retireDrainMs` if a rollout let it go. So this
   * is for a host that is away.
   */
  readonly leftMs: number
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
  leftMs: retireDrainMs + 30_000,
}
