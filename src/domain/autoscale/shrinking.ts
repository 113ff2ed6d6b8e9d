import { eachMetric, observationIntervalMs } from './looks.ts'
import type { AutoscaleConfiguration, AutoscaleMetric } from './policy.ts'
import { proposeSize } from './proposal.ts'
import type { MetricValues } from './proposal.ts'

/**
 * Fewer instances have to be right at every look of that long before some are given back. In simulation, a
 * load that leaps by half of itself from second to second, with its mean on a bound, is followed up and down
 * up to 120 times an hour after 5 s, and up to 20 times after 15 s; one that leaps by a tenth 8 times, and
 * never.
 */
export const scaleInSettleMs = 15_000
/** Instances are only given back where the load could grow by that share without their being wanted again. */
export const scaleInReserve = 0.1

/** The size that was right at a look, as far as it goes down. */
export interface NotedProposal {
  readonly atMs: number
  readonly size: number
}

export interface HeldSize {
  /** From it, no policy would want more. */
  readonly size: number
  /** Absent where some can be given back. */
  readonly wantedBack?: WantedBack
}

/** With one instance fewer, this policy would want it again: for people. */
export interface WantedBack {
  readonly policy: string
  readonly metric: AutoscaleMetric
  /** What it would see, the reserve included. */
  readonly predicted: number
}

/**
 * Of the sizes from `wanted` up to below `target`, the smallest that would stay: the same load over fewer
 * instances, and a reserve on it, makes no policy propose more. This is what ends flapping on a bound; what
 * only the steps say would be taken back at once.
 */
export function smallestHeldSize(shrinking: {
  readonly configuration: AutoscaleConfiguration
  readonly base: number
  /** Of one look: where the load is uneven, its peaks count, and a mean would hide them. */
  readonly metrics: MetricValues
  readonly wanted: number
  readonly target: number
}): HeldSize {
  const { configuration, base, metrics, wanted, target } = shrinking
  let wantedBack: WantedBack | undefined
  for (let size = Math.max(1, wanted); size < target; size++) {
    const load = (base / size) * (1 + scaleInReserve)
    const proposal = proposeSize(
      configuration.policies,
      size,
      eachMetric((metric) => metrics[metric] * load),
    )
    if (proposal === undefined || proposal.size <= size) return { size }
    const { policy, metric, value: predicted } = proposal
    wantedBack = { policy, metric, predicted }
  }
  return { size: target, ...(wantedBack !== undefined && { wantedBack }) }
}

/**
 * Keeps what reaches back as far as a size has to be right. Whoever does not see the whole service for a look
 * begins anew.
 */
export function noteProposal(
  noted: readonly NotedProposal[],
  proposal: NotedProposal,
): readonly NotedProposal[] {
  const all = [...noted, proposal]
  const enough = all.findLastIndex(({ atMs }) => atMs <= proposal.atMs - scaleInSettleMs)
  return all.slice(Math.max(0, enough))
}

/** The largest size that was right lately; undefined where that is not known for long enough. */
export function settledSize(noted: readonly NotedProposal[], nowMs: number): number | undefined {
  const [first] = noted
  if (first === undefined || nowMs < first.atMs + scaleInSettleMs) return undefined
  return Math.max(...noted.map(({ size }) => size))
}

/** When some are given back, if from now on fewer than `target` stay right. */
export function settlesAtMs(
  noted: readonly NotedProposal[],
  { target, nowMs }: { readonly target: number; readonly nowMs: number },
): number {
  const lastInTheWay = noted.findLastIndex(({ size }) => size >= target)
  const since = noted[lastInTheWay + 1]?.atMs ?? nowMs + observationIntervalMs
  return since + scaleInSettleMs
}
