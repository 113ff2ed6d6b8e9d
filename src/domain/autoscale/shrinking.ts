import { eachMetric, observationIntervalMs } from './looks.ts'
import type { AutoscaleConfiguration, AutoscaleMetric } from './policy.ts'
import { proposeSize } from './proposal.ts'
import type { MetricValues } from './proposal.ts'

/**
 * How long a smaller size has to be right at every look before instances are given back. This was simulated
 * with a load whose mean is on a bound. If the load jumps by half of itself from second to second, the size
 * follows it up and down up to 120 times an hour with 5 s here, and up to 20 times with 15 s. If the load
 * jumps by a tenth, the size follows it 8 times with 5 s, and never with 15 s.
 */
export const scaleInSettleMs = 15_000
/**
 * The share by which the load must be able to grow, once instances are given back, before any of them is
 * wanted again.
 */
export const scaleInReserve = 0.1

/** The size that was right at one look, noted to decide whether to go down. */
export interface NotedProposal {
  readonly atMs: number
  readonly size: number
}

export interface HeldSize {
  /** At this size, no policy would want more. */
  readonly size: number
  /** Why no instance can be given back. If it is absent, some instances can be given back. */
  readonly wantedBack?: WantedBack
}

/** The policy that would want an instance again if there were one fewer, for people. */
export interface WantedBack {
  readonly policy: string
  readonly metric: AutoscaleMetric
  /** The value that the policy would see, including the reserve. */
  readonly predicted: number
}

/**
 * Returns the smallest size from `wanted` up to below `target` that would last: if the same load and a
 * reserve are spread over that many instances, no policy proposes more. Otherwise the size would flap on a
 * bound: by the steps alone, the next look would take the change back.
 */
export function smallestHeldSize(shrinking: {
  readonly configuration: AutoscaleConfiguration
  readonly base: number
  /** The metrics of one look. If the load is uneven its peaks count, and a mean would hide them. */
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
 * Adds a proposal, and keeps those that reach back as far as a size has to be right (`scaleInSettleMs`). If a
 * look does not see the whole service, the list begins again.
 */
export function noteProposal(
  noted: readonly NotedProposal[],
  proposal: NotedProposal,
): readonly NotedProposal[] {
  const all = [...noted, proposal]
  const enough = all.findLastIndex(({ atMs }) => atMs <= proposal.atMs - scaleInSettleMs)
  return all.slice(Math.max(0, enough))
}

/**
 * Returns the largest size that was right in the last `scaleInSettleMs`, or undefined if the looks do not
 * reach back that far.
 */
export function settledSize(noted: readonly NotedProposal[], nowMs: number): number | undefined {
  const [first] = noted
  if (first === undefined || nowMs < first.atMs + scaleInSettleMs) return undefined
  return Math.max(...noted.map(({ size }) => size))
}

/**
 * Returns when instances will be given back, provided that a size below `target` stays right until then.
 */
export function settlesAtMs(
  noted: readonly NotedProposal[],
  { target, nowMs }: { readonly target: number; readonly nowMs: number },
): number {
  const lastInTheWay = noted.findLastIndex(({ size }) => size >= target)
  const since = noted[lastInTheWay + 1]?.atMs ?? nowMs + observationIntervalMs
  return since + scaleInSettleMs
}
