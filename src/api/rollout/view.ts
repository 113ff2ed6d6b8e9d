import type { OperationEntry } from '../../contract/operation.ts'
import type { getRollouts } from '../../contract/rollout/operations.ts'
import type { RolloutMember, RolloutRow } from '../../db/rollout/row.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import type { RolloutOrder } from '../../domain/rollout/plan.ts'
import { isEnded } from '../../domain/rollout/phase.ts'
import { timestamp } from '../timestamp.ts'

export type RolloutView = OperationEntry<typeof getRollouts>['rollouts'][number]

export function presentRollout(
  row: RolloutRow,
  of: {
    readonly service: Pick<ServiceRow, 'rolloutUuid' | 'rolloutPercent'>
    readonly members: readonly RolloutMember[]
  },
): RolloutView {
  const { plan, reason, keptUntil, endedAt, phase } = row
  const { rolloutUuid, rolloutPercent } = of.service
  return {
    uuid: row.uuid,
    created_at: timestamp(row.createdAt),
    phase,
    since: timestamp(row.since),
    ...(rolloutUuid === row.uuid && rolloutPercent !== null && { percent: rolloutPercent }),
    step: row.step + 1,
    ...(reason !== null && { reason }),
    changes: [...row.changes],
    ...(keptUntil !== null && !isEnded(phase) && { kept_until: timestamp(keptUntil) }),
    ...(endedAt !== null && { ended_at: timestamp(endedAt) }),
    ...presentPlan(plan),
    check: { ...presentPlan(plan).check, port: plan.check.port },
    ...instancesOf(row, of.members),
  }
}

/** A plan as requests have it. The port is absent if it is not known yet. */
export function presentPlan({ canary, bakeMs, check, maxErrorPercent, maxLatencyMs, keepMs }: RolloutOrder) {
  return {
    canary: [...canary],
    bake_s: bakeMs / 1_000,
    check: {
      ...(check.port !== undefined && { port: check.port }),
      ...(check.path !== undefined && { path: check.path }),
      ...(check.status !== undefined && { status: check.status }),
      times: check.times,
      interval_ms: check.intervalMs,
      timeout_ms: check.timeoutMs,
      limit_s: check.limitMs / 1_000,
    },
    max_error_percent: maxErrorPercent,
    ...(maxLatencyMs !== undefined && { max_latency_ms: maxLatencyMs }),
    keep_s: keepMs / 1_000,
  }
}

/** The instances that still belong to the rollout. One that is over has none. */
function instancesOf({ uuid, phase }: RolloutRow, members: readonly RolloutMember[]) {
  if (isEnded(phase)) return {}
  const mine = members.filter(({ rolloutUuid }) => rolloutUuid === uuid)
  const named = (isKept: boolean) =>
    mine.filter((one) => one.isKept === isKept).map(({ uuid, name }) => ({ uuid, name }))
  return { new_instances: named(false), old_instances: named(true) }
}
