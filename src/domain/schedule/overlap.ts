/** What happens if a run is due while an earlier one is still under way. */
export const OverlapPolicy = {
  /** The later one is left out. */
  Skip: 'skip',
  /** It begins when the earlier one has ended. At most one waits. */
  Queue: 'queue',
  /** Both run. */
  Allow: 'allow',
  /** The earlier one is ended, and has failed. */
  Cancel: 'cancel',
} as const
export type OverlapPolicy = (typeof OverlapPolicy)[keyof typeof OverlapPolicy]

export const defaultOverlap: OverlapPolicy = OverlapPolicy.Skip
/**
 * The time within which a run that was missed, because the control plane was away, is made up for.
 * Temporal's least is 10 s.
 */
export const catchUpRangeS = { min: 10, max: 31_536_000 } as const
export const defaultCatchUpS = 60
export const defaultTimeZone = 'UTC'
