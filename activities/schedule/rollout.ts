import { Refused } from '../../src/db/refused.ts'
import { createRollout } from '../../src/db/rollout/create.ts'
import { recallRollout } from '../../src/db/rollout/moves.ts'
import { findRollout, markRolloutStarted } from '../../src/db/rollout/records.ts'
import { openScheduleEnv } from '../../src/db/schedule/row.ts'
import type { ScheduleRow } from '../../src/db/schedule/row.ts'
import { noteRolloutOfRun, runAsker } from '../../src/db/schedule/runs.ts'
import type { FoundRun, RunRow } from '../../src/db/schedule/runs.ts'
import { findServices } from '../../src/db/service/services.ts'
import type { InstanceConfiguration } from '../../src/domain/instance/change.ts'
import { findProcessExcess } from '../../src/domain/instance/process-size.ts'
import type { RolloutAction } from '../../src/domain/schedule/action.ts'
import { afterRollout } from '../../src/domain/schedule/rollout.ts'
import { beginLife } from '../instance-orders.ts'
import type { ScheduleRunDeps } from './run-deps.ts'

/**
 * Begins the rollout of a run, whose row names it from the same transaction on: so a repeated attempt begins
 * no second one. Returns why that is not possible, if it is not.
 */
export async function beginRollout(
  deps: ScheduleRunDeps,
  { schedule, run }: { readonly schedule: ScheduleRow; readonly run: RunRow },
  action: RolloutAction,
): Promise<string | undefined> {
  const { database, bounds } = deps
  const { userUuid } = schedule
  const [service] = await findServices(database, { userUuid }, [{ name: action.service }])
  if (service === undefined) return `there is no service ${action.service}`
  const asker = runAsker(schedule)
  const variables = openScheduleEnv(deps.secretBox, schedule)
  const outcome = await createRollout(
    deps,
    {
      userUuid,
      serviceUuid: service.uuid,
      asker,
      plan: action.plan,
      supersede: action.supersede,
      apply: (now) => checked(afterRollout(now, action, variables), bounds.variables),
      within: (db, rolloutUuid) => noteRolloutOfRun(db, run, rolloutUuid),
    },
    bounds.keptRollouts,
  )
  if (!outcome.ok) return deps.refusalSentence(outcome.refusal)
  const { rollout, instances } = outcome.value
  // The sweep starts what is not reached here.
  for (const row of instances) await beginLife(deps, row, asker)
  await deps.rollouts.ensureStarted({ rolloutUuid: rollout.uuid, serviceName: service.name, userUuid })
  await markRolloutStarted(database, [rollout.uuid])
  return undefined
}

/** Has the rollout of a run go back that is ended before its time. */
export async function recall(deps: ScheduleRunDeps, { rolloutUuid, asker }: FoundRun): Promise<void> {
  const rollout = rolloutUuid === null ? undefined : await findRollout(deps.database, rolloutUuid)
  if (rollout === undefined) return
  const { userUuid, serviceUuid } = rollout
  const recalled = await recallRollout(deps.database, { userUuid, serviceUuid, asker })
  if (recalled.ok) await deps.rollouts.lookAgain(recalled.value.uuid)
}

/** Throws `Refused` if the new version has more than an instance may have. */
function checked(after: InstanceConfiguration, mostVariables: number): InstanceConfiguration {
  const excess = findProcessExcess(after.args ?? [], after.env)
  if (excess !== undefined) throw new Refused({ kind: 'process-too-long', ...excess })
  const count = Object.keys(after.env).length
  if (count > mostVariables)
    throw new Refused({ kind: 'too-many-members', what: 'env', count, limit: mostVariables })
  return after
}
