import type { ExpressionBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { isUuid } from '../../domain/object-name.ts'
import type { InstanceState } from '../../domain/instance/state.ts'
import { VolumeCommand, VolumeUse, volumeRefusal } from '../../domain/volume/state.ts'
import type { VolumeMount } from '../../domain/volume/state.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { lockVolume, refuseUnavailable } from './locked-volume.ts'
import { isLive } from '../account/quotas.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import type { Db, Tables } from '../schema/tables.ts'
import type { VolumeRow } from './row.ts'

export type ChangeVolumeOutcome =
  | { readonly ok: true; readonly volume: Pick<VolumeRow, 'uuid' | 'name'> }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Attaches an available volume to an instance of the same user and host. The instance must be stopped and
 * not about to start; it must have no volume, and be neither a master nor a clone of autoscale. Every start
 * takes the lock of the user's row too, so the volume is attached before a start or not at all.
 */
export async function attachVolume(
  database: Database,
  wanted: {
    readonly userUuid: string
    readonly volumeUuid: string
    readonly instanceUuid: string
    readonly mount: VolumeMount
    readonly asker?: Asker
  },
): Promise<ChangeVolumeOutcome> {
  const { userUuid, volumeUuid, mount, asker } = wanted
  return changed(database, userUuid, async (db) => {
    const volume = await lockVolume(db, { userUuid, volume: { uuid: volumeUuid } })
    const instance = await lockInstance(db, { userUuid, uuid: wanted.instanceUuid })
    refuseUnavailable(volume)
    refuseAutoscaled(instance)
    const { name, state, nodeId } = instance
    if (instance.live) throw new Refused({ kind: 'instance-not-stopped', name, state })
    if (instance.volume !== null) {
      throw new Refused({ kind: 'instance-has-volume', name, volume: instance.volume })
    }
    if (nodeId !== volume.nodeId) {
      const { name: volumeName, nodeId: host } = volume
      const refusal = { volume: { name: volumeName, nodeId: host }, instance: { name, nodeId } }
      throw new Refused({ kind: 'volume-elsewhere', ...refusal })
    }
    await db
      .updateTable('instances')
      .set({ volumeUuid: volume.uuid, volumeAt: mount.at, volumeReadonly: mount.readonly })
      .where('uuid', '=', instance.uuid)
      .execute()
    const why = `volume ${volume.name} was attached at ${mount.at}${mount.readonly ? ', read-only' : ''}`
    await writeVolumeEvent(db, { ...instance, userUuid }, { why, to: volume.name, asker })
    return volume
  })
}

/**
 * Detaches the volume from its instance and makes it persistent. The instance must be stopped and not about
 * to start. A volume that no instance has is left as it is; but if `instanceUuid` is given and that instance
 * does not have the volume, the call is refused.
 */
export async function detachVolume(
  database: Database,
  wanted: {
    readonly userUuid: string
    readonly volumeUuid: string
    /** The instance that must have the volume. Absent: whichever instance has it. */
    readonly instanceUuid?: string
    readonly asker?: Asker
  },
): Promise<ChangeVolumeOutcome> {
  const { userUuid, volumeUuid, instanceUuid, asker } = wanted
  return changed(database, userUuid, async (db) => {
    const volume = await lockVolume(db, { userUuid, volume: { uuid: volumeUuid } })
    const holder = volume.attachedTo
    if (instanceUuid !== undefined && instanceUuid.toLowerCase() !== holder?.uuid) {
      const { uuid, name } = await lockInstance(db, { userUuid, uuid: instanceUuid })
      throw new Refused({ kind: 'volume-not-attached', name: volume.name, instance: { uuid, name } })
    }
    if (holder === null) return volume
    const { uuid, name, state, live } = await lockInstance(db, { userUuid, uuid: holder.uuid })
    const use = live ? VolumeUse.Live : VolumeUse.Resting
    if (volumeRefusal(VolumeCommand.Detach, { phase: volume.phase, use }) !== undefined) {
      throw new Refused({ kind: 'volume-mounted', name: volume.name, instance: { uuid, name, state } })
    }
    await db
      .updateTable('instances')
      .set({ volumeUuid: null, volumeAt: null, volumeReadonly: false })
      .where('uuid', '=', uuid)
      .execute()
    await db.updateTable('volumes').set({ persistent: true }).where('uuid', '=', volume.uuid).execute()
    const why = `volume ${volume.name} was detached`
    await writeVolumeEvent(db, { uuid, name, userUuid }, { why, from: volume.name, asker })
    return volume
  })
}

async function writeVolumeEvent(
  db: Db,
  instance: { readonly uuid: string; readonly name: string; readonly userUuid: string },
  {
    asker = thePlatform,
    ...change
  }: Pick<News, 'from' | 'to' | 'why'> & { readonly asker?: Asker | undefined },
): Promise<void> {
  const kind = UserEventKind.InstanceVolume
  await writeEvents(db, [{ ...eventObject(instance), kind, ...change, asker }])
}

/** Runs the change under the lock of the user's row. */
async function changed(
  database: Database,
  userUuid: string,
  change: (db: Db) => Promise<VolumeRow>,
): Promise<ChangeVolumeOutcome> {
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      await lockUser(db, userUuid)
      return change(db)
    }),
  )
  if (!written.ok) return written
  const { uuid, name } = written.value
  return { ok: true, volume: { uuid, name } }
}

/**
 * Neither a master nor a clone may have a volume. The user's row is locked, so nobody can configure
 * autoscale meanwhile.
 */
function refuseAutoscaled({ name, isClone, masterOf }: LockedInstance): void {
  if (isClone) throw new Refused({ kind: 'volume-for-clone', name })
  if (masterOf !== null) throw new Refused({ kind: 'volume-for-master', name, service: masterOf })
}

interface LockedInstance {
  readonly uuid: string
  readonly name: string
  readonly nodeId: string
  readonly state: InstanceState
  readonly live: boolean
  readonly isClone: boolean
  /** The name of the service for which autoscale clones the instance. */
  readonly masterOf: string | null
  readonly volume: { readonly uuid: string; readonly name: string } | null
}

/**
 * Locks the user's instance, so that its workflow can write no other state until the commit. Throws
 * `Refused`.
 */
async function lockInstance(
  db: Db,
  wanted: { readonly userUuid: string; readonly uuid: string },
): Promise<LockedInstance> {
  const { userUuid, uuid } = wanted
  const instance = isUuid(uuid)
    ? await db
        .selectFrom('instances')
        .select(['uuid', 'name', 'nodeId', 'state'])
        .select((eb) => [
          isLive(eb).$castTo<boolean>().as('live'),
          eb('cloneOf', 'is not', null).$castTo<boolean>().as('isClone'),
          nameOfClonedFor(eb).as('masterOf'),
          jsonObjectFrom(
            eb
              .selectFrom('volumes')
              .select(['volumes.uuid', 'volumes.name'])
              .whereRef('volumes.uuid', '=', 'instances.volumeUuid'),
          ).as('volume'),
        ])
        .where('uuid', '=', uuid)
        .where('userUuid', '=', userUuid)
        .where('deletedAt', 'is', null)
        .forNoKeyUpdate()
        .executeTakeFirst()
    : undefined
  if (instance === undefined) throw new Refused({ kind: 'instance-not-found', by: 'uuid', value: uuid })
  return instance
}

function nameOfClonedFor(eb: ExpressionBuilder<Tables, 'instances'>) {
  return eb
    .selectFrom('autoscaleConfigurations as configurations')
    .innerJoin('services', 'services.uuid', 'configurations.serviceUuid')
    .whereRef('configurations.masterUuid', '=', 'instances.uuid')
    .where('configurations.deletedAt', 'is', null)
    .select('services.name')
}
