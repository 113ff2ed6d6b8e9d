import type { AutoscaleOutcome } from './outcome.ts'

/** One thing that autoscale did, as it is kept for people. */
export interface DecisionReport {
  /** What it was done for; `closed`: the configuration was deleted. */
  readonly cause: AutoscaleOutcome | { readonly kind: 'closed' }
  /** Instances of the size before and afterwards. */
  readonly before: number
  readonly after: number
  /** Names. */
  readonly added: readonly string[]
  readonly givenBack: readonly string[]
  /** Why not all were added; never a secret. */
  readonly refusal?: string
}

export function closedReport({
  after,
  givenBack,
}: Pick<DecisionReport, 'after' | 'givenBack'>): DecisionReport {
  return { cause: { kind: 'closed' }, before: after + givenBack.length, after, added: [], givenBack }
}
