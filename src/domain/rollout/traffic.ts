import { requestBoundsSeconds } from '../service/service-traffic.ts'
import type { StepTraffic } from './decision.ts'
import type { CountedTraffic, GatewayCount, WatchedTraffic } from './progress.ts'

const nothing: CountedTraffic = { requests: 0, errors: 0, durations: [] }

/**
 * Adds what gateways counted since they were last heard. A gateway that was started since has counted from
 * zero. What it had counted before stays, because it is known from the last look; so its death neither hides
 * errors nor makes few requests of many. All that a gateway counted which was never heard before belongs to
 * the step: before the first step there was nothing to count.
 */
export function addCounts(
  before: WatchedTraffic | undefined,
  now: Readonly<Record<string, GatewayCount>>,
): WatchedTraffic {
  let step = before?.step ?? nothing
  const last = { ...before?.last }
  for (const [gateway, count] of Object.entries(now)) {
    const known = last[gateway]?.run === count.run ? last[gateway] : nothing
    // A look that was made earlier may be noted later. It has nothing new.
    if (count.requests < known.requests) continue
    step = {
      requests: step.requests + count.requests - known.requests,
      errors: step.errors + count.errors - known.errors,
      durations: Array.from(
        { length: requestBoundsSeconds.length + 1 },
        (_, index) =>
          (step.durations[index] ?? 0) + (count.durations[index] ?? 0) - (known.durations[index] ?? 0),
      ),
    }
    last[gateway] = count
  }
  return { step, last }
}

/**
 * Begins a step: what was counted up to the last look belongs to the time before. A gateway that was silent
 * then adds what it counted since it was last heard, as soon as it is heard again.
 */
export function beginCounting({ last }: WatchedTraffic): WatchedTraffic {
  return { step: nothing, last }
}

export function stepTraffic({ step: { requests, errors, durations } }: WatchedTraffic): StepTraffic {
  return { requests, errors, latencyMs: slowestOf(durations) }
}

const watchedShare = 0.95

/** The bound within which 95 of a hundred requests were answered; 0 if none was. */
function slowestOf(counts: readonly number[]): number {
  const wanted = watchedShare * counts.reduce((sum, count) => sum + count, 0)
  if (wanted === 0) return 0
  let within = 0
  for (const [index, bound] of requestBoundsSeconds.entries()) {
    within += counts[index] ?? 0
    if (within >= wanted) return bound * 1_000
  }
  return Infinity
}
