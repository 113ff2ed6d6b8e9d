import type { Asker } from '../../domain/event/asker.ts'
import { thePlatform } from '../../domain/event/asker.ts'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { retireDrainMs } from '../../domain/rollout/plan.ts'
import { writeEvents, eventObject } from '../event/write.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Database } from '../database.ts'
import { countNotified } from '../instance/channel.ts'
import { markInstancesDeleted } from '../instance/deletion.ts'
import type { InstanceRow } from '../instance/row.ts'
import { Refused } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { now } from '../sql/time.ts'
import { enterPhase, rolloutAsker } from './events.ts'
import { readRollout, readVersions } from './locked.ts'
import type { LockedService } from './locked.ts'
import { swapNames } from './names.ts'
import { rolloutColumns } from './row.ts'
import type { RolloutRow } from './row.ts'

/**
 * Ends what earlier rollouts of the service left: one that is under way, if `supersede` says so, and the old
 * version that one keeps. Throws `Refused`.
 */
export async function endEarlier(
  db: Db,
  locked: LockedService,
  { supersede, asker }: { readonly supersede: boolean; readonly asker: Asker },
): Promise<void> {
  const { service } = locked
  const { name } = service
  const underWay = service.rolloutUuid === null ? undefined : await readRollout(db, service.rolloutUuid)
  if (underWay !== undefined) {
    const { phase, hasVolumes } = underWay
    if (!supersede) throw new Refused({ kind: 'rollout-under-way', name, phase })
    if (phase === RolloutPhase.Returning)
      throw new Refused({ kind: 'rollout-can-not-end', name, phase, reason: 'it goes back already' })
    if (hasVolumes && (service.rolloutHeld || phase === RolloutPhase.Baking)) {
      const reason = 'the new version has the volumes: go back first, or wait until it is over'
      throw new Refused({ kind: 'rollout-can-not-end', name, phase, reason })
    }
    await turnBack(db, locked, underWay, { reason: 'another rollout takes its place', asker })
  }
  const keeping = await db
    .selectFrom('rollouts')
    .select(rolloutColumns)
    .where('serviceUuid', '=', service.uuid)
    .where('phase', '=', RolloutPhase.Kept)
    .execute()
  for (const rollout of keeping) await forget(db, locked, rollout, 'the next rollout begins')
}

/**
 * Gives all traffic to the old version again. The new instances are given back: they drain, stop and are
 * deleted. The rollout is over.
 */
export async function turnBack(
  db: Db,
  locked: LockedService,
  rollout: RolloutRow,
  { reason, asker }: { readonly reason: string; readonly asker?: Asker },
): Promise<readonly InstanceRow[]> {
  const { service, masterUuid } = locked
  const { next, present } = await readVersions(db, service.uuid, rollout.uuid)
  await undivide(db, service.uuid)
  const master = next.find(({ uuid }) => uuid === masterUuid)
  if (master !== undefined) await setMaster(db, service.uuid, master.replaces)
  if (rollout.keptUntil !== null) await swapNames(db, pairsOf(next, present))
  const why = `a rollout of ${service.name} went back: ${reason}`
  await keepVolumes(db, next)
  await giveBack(db, locked, { instances: next, why })
  await restorePersistence(db, rollout)
  await enterPhase(db, { service, rollout }, RolloutPhase.Returned, {
    columns: { endedAt: now, reason },
    why: `the old version has all traffic again: ${reason}`,
    ...(asker && { asker }),
  })
  return next
}

/** Deletes the old version that a rollout keeps, and ends the rollout. Returns what is deleted. */
export async function forget(
  db: Db,
  locked: LockedService,
  rollout: RolloutRow,
  why: string,
): Promise<readonly InstanceRow[]> {
  const { service } = locked
  const { kept } = await readVersions(db, service.uuid, rollout.uuid)
  const reason = {
    why: `the old version of ${service.name} is not kept any more: ${why}`,
    asker: rolloutAsker(service.name),
  }
  const deleted = await markInstancesDeleted(db, kept, reason)
  await db
    .updateTable('instances')
    .set({ replaces: null })
    .where('serviceUuid', '=', service.uuid)
    .where('replaces', '=', anyOf(kept.map(({ uuid }) => uuid)))
    .execute()
  await enterPhase(db, { service, rollout }, RolloutPhase.Done, {
    columns: { endedAt: now },
    why: `the old version is deleted: ${why}`,
  })
  return deleted
}

/** Deletes what a rollout keeps of a service that is deleted. Nobody can go back to it any more. */
export async function deleteLeft({ db }: Database, rolloutUuid: string): Promise<readonly InstanceRow[]> {
  return db.transaction().execute(async (db) => {
    const left = await db
      .selectFrom('instances')
      .select('uuid')
      .where('rolloutUuid', '=', rolloutUuid)
      .where('serviceUuid', 'is', null)
      .where('deletedAt', 'is', null)
      .execute()
    const reason = { why: 'it was kept for a service that is deleted', asker: thePlatform }
    return markInstancesDeleted(db, left, reason)
  })
}

/** Has gateways serve the service like one without a rollout. */
export async function undivide(db: Db, serviceUuid: string): Promise<void> {
  await db
    .updateTable('services')
    .set({ rolloutUuid: null, rolloutPercent: null, rolloutHeld: false })
    .where('uuid', '=', serviceUuid)
    .execute()
}

/** Has autoscale make its clones after this instance, and count those. */
export async function setMaster(db: Db, serviceUuid: string, masterUuid: string | null): Promise<void> {
  if (masterUuid === null) return
  await db
    .updateTable('autoscaleConfigurations')
    .set({ masterUuid })
    .where('serviceUuid', '=', serviceUuid)
    .where('deletedAt', 'is', null)
    .execute()
}

/**
 * Retires instances: they get nothing new from now on, and their workflows drain and stop them, and delete
 * them then.
 */
export async function giveBack(
  db: Db,
  { service }: Pick<LockedService, 'service'>,
  { instances, why }: { readonly instances: readonly InstanceRow[]; readonly why: string },
): Promise<void> {
  if (instances.length === 0) return
  const asker = rolloutAsker(service.name)
  await writeEvents(
    db,
    instances.map((row) => ({ ...eventObject(row), kind: UserEventKind.InstanceRetired, why, asker })),
  )
  await db
    .with('changed', (db) =>
      db
        .updateTable('instances')
        .set({ serviceUuid: null, retiredAt: now, retireDrainMs })
        .where('uuid', '=', anyOf(instances.map(({ uuid }) => uuid)))
        .where('retiredAt', 'is', null)
        .returning(['uuid']),
    )
    .selectFrom('changed')
    .select((eb) => countNotified(eb.ref('uuid')).as('told'))
    .execute()
}

/**
 * A volume whose old instance was deleted is still with the new one. It was made with an instance, and would
 * be deleted with the new one.
 */
async function keepVolumes(db: Db, next: readonly InstanceRow[]): Promise<void> {
  const volumes = next.flatMap(({ volumeUuid }) => volumeUuid ?? [])
  if (volumes.length === 0) return
  await db.updateTable('volumes').set({ persistent: true }).where('uuid', '=', anyOf(volumes)).execute()
}

/** New instances, each with the one in whose place it is, if both are there. */
export function pairsOf(
  next: readonly InstanceRow[],
  old: readonly InstanceRow[],
): readonly { readonly next: InstanceRow; readonly old: InstanceRow }[] {
  return next.flatMap((one) => {
    const found = old.find(({ uuid }) => uuid === one.replaces)
    return found === undefined ? [] : [{ next: one, old: found }]
  })
}

/** A service that was made for one instance goes with it again, if it still has one. */
export async function restorePersistence(
  db: Db,
  { serviceUuid, wasPersistent }: Pick<RolloutRow, 'serviceUuid' | 'wasPersistent'>,
): Promise<void> {
  if (wasPersistent) return
  const { count } = await db
    .selectFrom('instances')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('serviceUuid', '=', serviceUuid)
    .where('deletedAt', 'is', null)
    .where('retiredAt', 'is', null)
    .executeTakeFirstOrThrow()
  if (count === 1)
    await db.updateTable('services').set({ persistent: false }).where('uuid', '=', serviceUuid).execute()
}
