/**
 * How far a rollout is.
 *
 * ```
 *              every new instance is healthy                the last step is over
 *  preparing ───────────────────────────────► baking ─────────────────────────────► kept ──► done
 *      │  ▲                                     │ │                                  │    its time is over
 *      │  └─────────────────────────────────────┘ │                                  │
 *      │        the next step                     │ a bound is broken,               │ the user's word
 *      │ an instance is not healthy in time,      │ or the user's word               │
 *      ▼                                          ▼                                  ▼
 *   returning ◄─────────────────────────────── returning ◄─────────────────────── returning ──► returned
 *                                                                                    │
 *                                                       it was deleted, or does not come up ──► kept
 * ```
 */
export const RolloutPhase = {
  /** The new instances of the next step come up and are checked. They get no more traffic than before. */
  Preparing: 'preparing',
  /** The new version has its share of the traffic, and is watched. */
  Baking: 'baking',
  /** The new version is the version of the service. The old one is stopped, and kept as the way back. */
  Kept: 'kept',
  /** The old version gets the traffic again, and the new one is deleted. */
  Returning: 'returning',
  /** The old version is deleted. */
  Done: 'done',
  /** The service is as it was before. The reason says why. */
  Returned: 'returned',
} as const
export type RolloutPhase = (typeof RolloutPhase)[keyof typeof RolloutPhase]

/** The phases after which nothing happens any more. */
export const endedPhases = [RolloutPhase.Done, RolloutPhase.Returned] as const

export function isEnded(phase: RolloutPhase): boolean {
  return (endedPhases as readonly RolloutPhase[]).includes(phase)
}
