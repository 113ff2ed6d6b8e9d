import { log } from '@temporalio/activity'
import { noteProgress } from '../../src/db/rollout/moves.ts'
import type { RolloutRow } from '../../src/db/rollout/row.ts'
import type { StepTraffic } from '../../src/domain/rollout/decision.ts'
import type { GatewayCount } from '../../src/domain/rollout/progress.ts'
import { addCounts, stepTraffic } from '../../src/domain/rollout/traffic.ts'
import type { TrafficAnswer } from '../../src/domain/service/service-traffic.ts'
import type { RolloutDeps } from './rollout-deps.ts'

/**
 * Asks gateways what they counted of the new version, notes it, and returns what was counted since the step
 * began. It is noted at each look, because a gateway that is killed takes its counts with it. A gateway that
 * does not answer is left out.
 */
export async function measureStep(deps: RolloutDeps, rollout: RolloutRow): Promise<StepTraffic> {
  const { uuid, progress } = rollout
  const answers = await deps.gateways.readTraffic([uuid], (error) =>
    log.warn('a gateway did not tell what it counted of a rollout', { err: error, rollout: uuid }),
  )
  const counts = Object.fromEntries(answers.map((answer) => [answer.gateway, countOf(answer, uuid)]))
  const isNews = Object.entries(counts).some(([gateway, { run, requests }]) => {
    const known = progress.traffic?.last[gateway]
    return known?.run !== run || requests > known.requests
  })
  if (isNews)
    await noteProgress(deps.database, rollout, (before) => ({
      ...before,
      traffic: addCounts(before.traffic, counts),
    }))
  return stepTraffic(addCounts(progress.traffic, counts))
}

function countOf({ run, traffic }: TrafficAnswer, uuid: string): GatewayCount {
  const counted = traffic[uuid]
  if (counted === undefined) return { run, requests: 0, errors: 0, durations: [] }
  const requests = Object.values(counted.requests).reduce((sum, count) => sum + count, 0)
  return { run, requests, errors: counted.requests['5xx'] ?? 0, durations: counted.durations.counts }
}
