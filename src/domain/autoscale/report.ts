import type { AutoscaleOutcome } from './outcome.ts'

/** One thing that autoscale did, recorded for people. */
export interface DecisionReport {
  /** Why it was done. `closed` means that the configuration was deleted. */
  readonly cause: AutoscaleOutcome | { readonly kind: 'closed' }
  /** How many instances counted for the size before and afterwards. */
  readonly before: number
  readonly after: number
  /** The names of the clones that were added and given back. */
  readonly added: readonly string[]
  readonly givenBack: readonly string[]
  /** Why not all wanted clones were added. The text never contains a secret. */
  readonly refusal?: string
}

export function closedReport({
  after,
  givenBack,
}: Pick<DecisionReport, 'after' | 'givenBack'>): DecisionReport {
  return { cause: { kind: 'closed' }, before: after + givenBack.length, after, added: [], givenBack }
}
