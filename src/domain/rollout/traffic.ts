import { requestBoundsSeconds } from '../service/service-traffic.ts'
import type { StepTraffic } from './decision.ts'
import type { CountedTraffic } from './progress.ts'

type ByGateway = Readonly<Record<string, CountedTraffic>>

/**
 * What gateways counted since `before`. A gateway that has counted less than before has begun anew; then all
 * that it has counts. So does all of a gateway that was not there before.
 */
export function trafficSince(before: ByGateway, now: ByGateway): StepTraffic {
  let requests = 0
  let errors = 0
  const durations = Array<number>(requestBoundsSeconds.length + 1).fill(0)
  for (const [gateway, counted] of Object.entries(now)) {
    const known = before[gateway]
    const base = known === undefined || counted.requests < known.requests ? undefined : known
    requests += counted.requests - (base?.requests ?? 0)
    errors += counted.errors - (base?.errors ?? 0)
    for (const index of durations.keys())
      durations[index] =
        (durations[index] ?? 0) + (counted.durations[index] ?? 0) - (base?.durations[index] ?? 0)
  }
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
