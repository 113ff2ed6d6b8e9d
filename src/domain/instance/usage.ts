import type { StartKind } from './start-report.ts'

/**
 * The resource use of an instance, as its host accounts for it. All values add up over starts, except
 * `rssBytes` and the present counts: connections, requests, queued.
 */
export interface Usage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
  readonly rxBytes: number
  readonly rxPackets: number
  readonly txBytes: number
  readonly txPackets: number
  /**
   * `connections` counts established inbound connections without HTTP, `requests` the requests in flight,
   * and `queued` the connections and requests that wait.
   */
  readonly connections: number
  readonly requests: number
  readonly queued: number
  /** How many connections and requests have ended. */
  readonly handled: number
  /** Absent if the instance was never woken, and from an older host. */
  readonly wakes?: Wakes
}

/** How often an instance was woken, and how long that took in all, by how its VM came up. */
export type Wakes = Readonly<Partial<Record<StartKind, WakeCount>>>

export interface WakeCount {
  readonly count: number
  /** From the use of the permit to the entry of the application. */
  readonly timeMs: number
}

export function withWake(wakes: Wakes | undefined, kind: StartKind, timeMs: number): Wakes {
  const before = wakes?.[kind] ?? { count: 0, timeMs: 0 }
  return { ...wakes, [kind]: { count: before.count + 1, timeMs: before.timeMs + timeMs } }
}

export const noUsage: Usage = {
  rssBytes: 0,
  cpuTimeMs: 0,
  rxBytes: 0,
  rxPackets: 0,
  txBytes: 0,
  txPackets: 0,
  connections: 0,
  requests: 0,
  queued: 0,
  handled: 0,
}
