/** How a new version is brought in. Plain JSON without secrets. */
export interface RolloutPlan {
  /** The share of the traffic in each step, in percent. It grows, and ends with 100. */
  readonly canary: readonly number[]
  /** How long each step lasts. */
  readonly bakeMs: number
  readonly check: CheckPlan
  /** More failed requests than this, in percent of those of a step, and the rollout goes back. */
  readonly maxErrorPercent: number
  /** 95 of a hundred requests of a step have to be answered within this time. Absent: no bound. */
  readonly maxLatencyMs?: number
  /** How long the old version is kept as the way back. */
  readonly keepMs: number
}

/** When a new instance counts as healthy. */
export interface CheckPlan {
  /** The application's port. */
  readonly port: number
  /** Present: an HTTP request has to be answered. Absent: a connection has to be accepted. */
  readonly path?: string
  /** The status that the answer has to have. Absent: any of 200 to 399. */
  readonly status?: number
  /** How many checks in a row have to succeed. */
  readonly times: number
  readonly intervalMs: number
  readonly timeoutMs: number
  /** An instance that is not healthy after this time fails the rollout. */
  readonly limitMs: number
}

/** A plan as it is asked for. Without a port, the check asks the first one that is published. */
export type RolloutOrder = Omit<RolloutPlan, 'check'> & {
  readonly check: Omit<CheckPlan, 'port'> & { readonly port?: number }
}

export const defaultCanary = [100] as const
export const defaultBakeMs = 30_000
export const defaultMaxErrorPercent = 5
export const defaultKeepMs = 3_600_000
export const defaultCheck = { times: 1, intervalMs: 1_000, timeoutMs: 2_000, limitMs: 120_000 } as const

/** So few failed requests are no reason to go back: one in a service without traffic is 100 percent. */
export const leastErrors = 3

/** How long requests to an instance that has to go may last. The other version serves meanwhile. */
export const retireDrainMs = 30_000
/** The same if it has to give its volume away. All requests wait meanwhile. */
export const handOverDrainMs = 5_000
