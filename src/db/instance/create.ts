import { InstanceState } from '../../domain/instance/state.ts'
import { generatedInstanceName, nameSuffixLength, replicaName } from '../../domain/object-name.ts'
import {
  findLimitBreach,
  findVolumeLimitBreach,
  liveDemand,
  volumeDemand,
} from '../../domain/account/quotas.ts'
import { serviceDemand } from '../service/create.ts'
import type { Database } from '../database.ts'
import type { Db, Row } from '../schema/tables.ts'
import { insertEvents } from '../event/write.ts'
import { createdEvents } from './created-events.ts'
import { instanceColumns } from './row.ts'
import type { InstanceRow } from './row.ts'
import { attachToService, insertService } from '../service/insert.ts'
import { insertVolumes } from '../volume/insert.ts'
import { lockVolume, refuseUnavailable } from '../volume/locked-volume.ts'
import { chooseNames, firstState, newInstanceRow } from './new-instances.ts'
import type { NewInstances } from './new-instances.ts'
import { placeInstances } from './placement.ts'
import type { RememberedHosts } from './remembered-hosts.ts'
import { quotasOf, refuseExcess } from '../account/quotas.ts'
import { randomSuffix } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { SecretBox } from '../secret-box.ts'
import { lockUser } from '../account/user-lock.ts'
import type { VolumeRow } from '../volume/row.ts'

export type CreateInstancesOutcome =
  | { readonly ok: true; readonly instances: readonly InstanceRow[] }
  | { readonly ok: false; readonly refusal: WriteRefusal }

export interface CreateInstancesDeps {
  readonly database: Database
  readonly secretBox: SecretBox
  /** Makes lower-case letters and digits. Tests replace it to make names collide. */
  readonly randomSuffix?: RandomSuffix
  /** What the process remembers of hosts. Absent: all are read for each placement. */
  readonly remembered?: RememberedHosts
}

/**
 * Writes the rows of an instance and its replicas, with the service, domains, certificates and volumes that
 * are made for them. One transaction writes all or nothing, under the lock of the user's row: creates and
 * starts of one user run one after the other, so parallel requests can not exceed a limit. Returns the rows
 * in the order of creation; if a name was asked for, the first row has it. No workflow is started, neither
 * of instances nor of volumes.
 *
 * Locks are taken in this order, so that no two transactions wait for each other: the user, a service, its
 * autoscale configuration, domains by name, a volume, an instance, hosts by id. Two kinds of transactions
 * lock an instance earlier. A delete of an instance locks it before its service, volume and configuration. A
 * new autoscale configuration locks its master before its own row. That does no harm, because both lock the
 * user's row first of all, so no transaction with the other order runs beside them.
 */
export async function insertInstances(
  deps: CreateInstancesDeps,
  wanted: NewInstances,
): Promise<CreateInstancesOutcome> {
  const { db } = deps.database
  const written = await orRefusal(() =>
    db.transaction().execute((db) => insertInstancesWithin(db, deps, wanted)),
  )
  return written.ok ? { ok: true, instances: written.value } : written
}

/** Does the work of `insertInstances` in the caller's transaction. Throws `Refused`. */
export async function insertInstancesWithin(
  db: Db,
  deps: CreateInstancesDeps,
  wanted: NewInstances,
): Promise<readonly InstanceRow[]> {
  const user = await lockUser(db, wanted.userUuid)
  await checkQuotas(db, user, wanted)
  const suffix = deps.randomSuffix ?? randomSuffix
  const names = await chooseNames(db, {
    userUuid: wanted.userUuid,
    count: wanted.replicas + 1,
    ...(wanted.name !== undefined && { given: wanted.name }),
    propose: () => proposeName(wanted, suffix(nameSuffixLength)),
  })
  const service = await chooseService(db, wanted, suffix)
  const existing = await chooseVolume(db, wanted)
  const sizeMb = madeVolumeMb(wanted)
  const { memoryMb, vcpus, userUuid } = wanted
  const wantedPlacements = {
    count: names.length,
    memoryMb,
    vcpus,
    ...(service !== null && { group: { serviceUuid: service, rolloutUuid: null } }),
    starting: firstState(wanted) === InstanceState.Starting,
    ...(existing && { volume: { existing } }),
    ...(sizeMb !== undefined && { volume: { made: { sizeMb } } }),
  }
  const placements = await placeInstances(db, wantedPlacements, deps.remembered)
  const nodeIds = placements.map(({ nodeId }) => nodeId)
  const writer = { userUuid, randomSuffix: suffix, ...(wanted.asker && { asker: wanted.asker }) }
  const made =
    sizeMb === undefined ? [] : await insertVolumes(db, writer, { sizeMb, nodeIds, persistent: false })
  const rows = names.map((name, index) =>
    newInstanceRow(deps.secretBox, wanted, {
      name,
      service,
      placement: placements[index]!,
      volume: made[index] ?? existing?.uuid ?? null,
    }),
  )
  const written = await db
    .with('told', (db) => insertEvents(db, createdEvents(rows, wanted)))
    .insertInto('instances')
    .values(rows)
    .returning(instanceColumns)
    .execute()
  const byUuid = new Map(written.map((row) => [row.uuid, row]))
  return rows.map(({ uuid }) => byUuid.get(uuid)!)
}

/**
 * The service that the instances are attached to; null if there is none. A new service for several instances
 * is persistent, so that it is not deleted with one of them.
 */
async function chooseService(
  db: Db,
  { userUuid, service, replicas, asker }: NewInstances,
  suffix: RandomSuffix,
): Promise<string | null> {
  if (service === undefined) return null
  if ('existing' in service) {
    return attachToService(db, { userUuid, service: service.existing, count: replicas + 1 })
  }
  const writer = { userUuid, randomSuffix: suffix, ...(asker && { asker }) }
  return insertService(db, writer, { ...service.made, persistent: replicas > 0 })
}

async function chooseVolume(
  db: Db,
  { userUuid, volume, replicas }: NewInstances,
): Promise<VolumeRow | undefined> {
  if (volume === undefined || !('existing' in volume)) return undefined
  const found = await lockVolume(db, { userUuid, volume: volume.existing })
  if (replicas > 0) throw new Refused({ kind: 'volume-with-replicas', name: found.name, replicas })
  refuseUnavailable(found)
  return found
}

/** The size of the volume that is made for each instance. Undefined if none is made. */
function madeVolumeMb({ volume }: Pick<NewInstances, 'volume'>): number | undefined {
  return volume !== undefined && 'made' in volume ? volume.made.sizeMb : undefined
}

async function checkQuotas(db: Db, user: Row<'users'>, wanted: NewInstances): Promise<void> {
  const quotas = await quotasOf(db, user)
  const breach = findLimitBreach(quotas.limits, wanted)
  if (breach) throw new Refused({ kind: 'limit', breach })
  const sizeMb = madeVolumeMb(wanted)
  const oversized = sizeMb === undefined ? undefined : findVolumeLimitBreach(quotas.limits, sizeMb)
  if (oversized) throw new Refused({ kind: 'limit', breach: oversized })
  const count = wanted.replicas + 1
  const live = firstState(wanted) === InstanceState.Stopped ? {} : liveDemand(wanted, count)
  const made = wanted.service !== undefined && 'made' in wanted.service ? wanted.service.made : undefined
  const service = made === undefined ? {} : serviceDemand(made)
  const volumes = sizeMb === undefined ? {} : volumeDemand(sizeMb, count)
  refuseExcess(quotas, { instances: count, ...live, ...service, ...volumes })
}

function proposeName(wanted: NewInstances, suffix: string): string {
  if (wanted.name !== undefined) return replicaName(wanted.name, suffix)
  return generatedInstanceName(wanted.image.split('@', 1)[0] ?? '', suffix)
}
