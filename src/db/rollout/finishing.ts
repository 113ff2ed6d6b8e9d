import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { json } from '../postgres-client.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { fromNow } from '../sql/time.ts'
import { giveBack, pairsOf, restorePersistence, undivide } from './ending.ts'
import { enterPhase } from './events.ts'
import { readVersions } from './locked.ts'
import type { LockedService } from './locked.ts'
import { swapNames } from './names.ts'
import type { RolloutRow } from './row.ts'

/**
 * Makes the new version that of the service: it has the names, and the old one is with no service any more,
 * and kept. The clones that autoscale made of the old one are given back.
 */
export async function finish(db: Db, locked: LockedService, rollout: RolloutRow): Promise<void> {
  const { service } = locked
  const { next, present } = await readVersions(db, service.uuid, rollout.uuid)
  const pairs = pairsOf(next, present)
  const oldUuids = pairs.map(({ old }) => old.uuid)
  const clones = present.filter(({ cloneOf }) => cloneOf !== null && oldUuids.includes(cloneOf))
  await giveBack(db, locked, { instances: clones, why: `${service.name} has a new version` })
  await swapNames(db, pairs)
  await setApart(db, { rollout, oldUuids, nextUuids: next.map(({ uuid }) => uuid) })
  await undivide(db, service.uuid)
  await restorePersistence(db, rollout)
  const { keepMs } = rollout.plan
  await enterPhase(db, { service, rollout }, RolloutPhase.Kept, {
    columns: { keptUntil: fromNow(keepMs), progress: json({}) },
    why: `the new version serves, and the old one is kept for ${keepMs / 1_000} s`,
  })
}

/** The old version is with no service; the new one is like any other instance. */
async function setApart(
  db: Db,
  of: {
    readonly rollout: Pick<RolloutRow, 'uuid'>
    readonly oldUuids: readonly string[]
    readonly nextUuids: readonly string[]
  },
): Promise<void> {
  await db
    .updateTable('instances')
    .set({ serviceUuid: null, rolloutUuid: of.rollout.uuid })
    .where('uuid', '=', anyOf(of.oldUuids))
    .execute()
  await db
    .updateTable('instances')
    .set({ rolloutUuid: null })
    .where('uuid', '=', anyOf(of.nextUuids))
    .execute()
}

/**
 * Begins to go back. If the old version is kept, it is attached again, and gateways divide the traffic again;
 * the new version has all of it until the old one is up.
 */
export async function goBack(
  db: Db,
  { service }: LockedService,
  { rollout, reason }: { readonly rollout: RolloutRow; readonly reason: string },
): Promise<void> {
  const { kept, present } = await readVersions(db, service.uuid, rollout.uuid)
  const isKept = rollout.phase === RolloutPhase.Kept
  if (isKept) {
    const keptUuids = kept.map(({ uuid }) => uuid)
    const masters = present.filter(({ replaces }) => replaces !== null && keptUuids.includes(replaces))
    const masterUuids = masters.map(({ uuid }) => uuid)
    const clones = present.filter(({ cloneOf }) => cloneOf !== null && masterUuids.includes(cloneOf))
    const nextUuids = [...masters, ...clones].map(({ uuid }) => uuid)
    await db
      .updateTable('instances')
      .set({ rolloutUuid: rollout.uuid })
      .where('uuid', '=', anyOf(nextUuids))
      .execute()
    await db
      .updateTable('instances')
      .set({ serviceUuid: service.uuid, rolloutUuid: null })
      .where('uuid', '=', anyOf(keptUuids))
      .execute()
    await db
      .updateTable('services')
      .set({ rolloutUuid: rollout.uuid, rolloutPercent: 100, rolloutHeld: false, persistent: true })
      .where('uuid', '=', service.uuid)
      .execute()
  } else if (!rollout.hasVolumes) {
    // The old version gets the traffic at once. With volumes, it may have stopped for the new one.
    await db.updateTable('services').set({ rolloutPercent: 0 }).where('uuid', '=', service.uuid).execute()
  }
  const revives =
    isKept || (rollout.hasVolumes && (service.rolloutHeld || rollout.phase === RolloutPhase.Baking))
  await enterPhase(db, { service, rollout }, RolloutPhase.Returning, {
    columns: { progress: json({}), revives, reason },
    why: `it goes back: ${reason}`,
    ...(rollout.recalledBy !== null && { asker: rollout.recalledBy }),
  })
}

/** The old version does not come up, so the new one stays, and the old one is kept as before. */
export async function stay(
  db: Db,
  { service }: LockedService,
  { rollout, reason }: { readonly rollout: RolloutRow; readonly reason: string },
): Promise<void> {
  const { next, present } = await readVersions(db, service.uuid, rollout.uuid)
  const oldUuids = pairsOf(next, present).map(({ old }) => old.uuid)
  await setApart(db, { rollout, oldUuids, nextUuids: next.map(({ uuid }) => uuid) })
  await undivide(db, service.uuid)
  await restorePersistence(db, rollout)
  await enterPhase(db, { service, rollout }, RolloutPhase.Kept, {
    columns: { progress: json({}), recalledBy: null, reason },
    why: `it can not go back, and the new version stays: ${reason}`,
  })
}
