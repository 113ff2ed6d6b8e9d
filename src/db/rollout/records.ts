import { endedPhases } from '../../domain/rollout/phase.ts'
import type { RolloutSettings } from '../../domain/rollout/settings.ts'
import type { Database } from '../database.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, now } from '../sql/time.ts'
import type { SweepBounds } from '../workflow-rows.ts'
import { readRollout } from './locked.ts'
import { rolloutColumns } from './row.ts'
import type { RolloutRow } from './row.ts'

/** Rollouts whose workflow is not known to have been started, oldest first. */
export async function findUnstartedRollouts(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly RolloutSettings[]> {
  return db
    .selectFrom('rollouts')
    .innerJoin('services', 'services.uuid', 'rollouts.serviceUuid')
    .select(['rollouts.uuid as rolloutUuid', 'services.name as serviceName', 'rollouts.userUuid'])
    .where('rollouts.workflowStartedAt', 'is', null)
    .where('rollouts.endedAt', 'is', null)
    .where('rollouts.createdAt', '<', ago(bounds.olderThanMs))
    .orderBy('rollouts.createdAt')
    .limit(bounds.limit)
    .execute()
}

/** A rollout of any user. Undefined if it is gone with its service. */
export async function findRollout({ db }: Database, uuid: string): Promise<RolloutRow | undefined> {
  return readRollout(db, uuid)
}

/** Notes that the workflows of these rollouts run. */
export async function markRolloutStarted({ db }: Database, uuids: readonly string[]): Promise<void> {
  await db
    .updateTable('rollouts')
    .set({ workflowStartedAt: now })
    .where('uuid', '=', anyOf(uuids))
    .where('workflowStartedAt', 'is', null)
    .execute()
}

/** The rollouts of these services, by the service's UUID, the newest first, at most `count` of each. */
export async function listRollouts(
  { db }: Database,
  serviceUuid: string,
  count: number,
): Promise<readonly RolloutRow[]> {
  return db
    .selectFrom('rollouts')
    .select(rolloutColumns)
    .where('serviceUuid', '=', serviceUuid)
    .orderBy('position', 'desc')
    .limit(count)
    .execute()
}

/** Removes the oldest ended rollouts of a service beyond `kept`. */
export async function removeOldRollouts(db: Db, serviceUuid: string, kept: number): Promise<void> {
  await db
    .deleteFrom('rollouts')
    .where('serviceUuid', '=', serviceUuid)
    .where('phase', '=', anyOf(endedPhases))
    .where('position', '<=', (eb) =>
      eb
        .selectFrom('rollouts as newer')
        .select('newer.position')
        .where('newer.serviceUuid', '=', serviceUuid)
        .orderBy('newer.position', 'desc')
        .offset(kept)
        .limit(1),
    )
    .execute()
}
