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
