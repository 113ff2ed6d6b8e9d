import { log } from '@temporalio/activity'
import { noteProgress } from '../../src/db/rollout/moves.ts'
import type { RolloutRow } from '../../src/db/rollout/row.ts'
import type { StepTraffic } from '../../src/domain/rollout/decision.ts'
import type { CountedTraffic } from '../../src/domain/rollout/progress.ts'
import { trafficSince } from '../../src/domain/rollout/traffic.ts'
import type { ServiceTraffic } from '../../src/domain/service/service-traffic.ts'
import type { RolloutDeps } from './rollout-deps.ts'

/**
 * What gateways counted of the new version since the step began. The first look at a step notes from where it
 * counts. A gateway that does not answer is left out.
 */
export async function measureStep(deps: RolloutDeps, rollout: RolloutRow): Promise<StepTraffic> {
  const { uuid, progress } = rollout
  const answers = await deps.gateways.readTraffic([uuid], (error) =>
    log.warn('a gateway did not tell what it counted of a rollout', { err: error, rollout: uuid }),
  )
  const counted = Object.fromEntries(
    answers.map(({ gateway, traffic }) => [gateway, countedOf(traffic[uuid])]),
  )
  const before = progress.counted ?? counted
  if (progress.counted === undefined)
    await noteProgress(deps.database, rollout, (now) => ({ counted, ...now }))
  return trafficSince(before, counted)
}

function countedOf(traffic: ServiceTraffic | undefined): CountedTraffic {
  if (traffic === undefined) return { requests: 0, errors: 0, durations: [] }
  const requests = Object.values(traffic.requests).reduce((sum, count) => sum + count, 0)
  return { requests, errors: traffic.requests['5xx'] ?? 0, durations: traffic.durations.counts }
}
