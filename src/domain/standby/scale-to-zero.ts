/** When an instance goes to standby. */
export const ScaleToZeroPolicy = {
  Off: 'off',
  /** Goes to standby when there were no connections and requests for the cooldown time. */
  On: 'on',
  /**
   * Like `on`, but connections without a byte for the cooldown time do not count, if the instance keeps its
   * memory.
   */
  Idle: 'idle',
} as const
export type ScaleToZeroPolicy = (typeof ScaleToZeroPolicy)[keyof typeof ScaleToZeroPolicy]

export interface ScaleToZero {
  readonly policy: ScaleToZeroPolicy
  readonly cooldownMs: number
  /** Memory and connections survive standby in a snapshot. */
  readonly stateful: boolean
}

export const defaultCooldownMs = 1_000

/** How often a minute the instances of one user may fall asleep on a host, for each of its processors. */
export const defaultSleepsPerMinute = 15

export const noScaleToZero: ScaleToZero = {
  policy: ScaleToZeroPolicy.Off,
  cooldownMs: defaultCooldownMs,
  stateful: false,
}

export function mayStandBy({ policy }: ScaleToZero): boolean {
  return policy !== ScaleToZeroPolicy.Off
}

/**
 * Whether an instance may sleep although it has open connections that carry nothing. After a sleep, only a
 * memory that was kept still contains these connections.
 */
export function sleepsThroughConnections({ policy, stateful }: ScaleToZero): boolean {
  return policy === ScaleToZeroPolicy.Idle && stateful
}
