import { strict as assert } from 'node:assert'
import { attachVolume, detachVolume } from '../../src/db/volume/attach.ts'
import type { NewInstances } from '../../src/db/instance/new-instances.ts'
import { createVolume } from '../../src/db/volume/create.ts'
import { markVolumeDeleted } from '../../src/db/volume/delete.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { recordInstance } from '../../src/db/instance/projection.ts'
import { recordVolume } from '../../src/db/volume/records.ts'
import type { VolumeRow } from '../../src/db/volume/row.ts'
import { findVolumes } from '../../src/db/volume/volumes.ts'
import type { InstanceProjection } from '../../src/domain/instance/projection.ts'
import type { InstanceState } from '../../src/domain/instance/state.ts'
import { VolumePhase } from '../../src/domain/volume/state.ts'
import type { VolumeMount } from '../../src/domain/volume/state.ts'
import { keepLive } from './accounts.ts'
import { serviceRecords } from './service-records.ts'

interface Owner {
  readonly uuid: string
}

export const testMount: VolumeMount = { at: '/data', readonly: false }

/** Writes and reads volumes without the API, in a database for the describe block that calls this. */
export function volumeRecords() {
  const { database, newUser, wanted: wantedService, createInstance, instances, whileHeld } = serviceRecords()
  let revision = 0
  // An earlier test may have made the host silent.
  beforeEach(() => keepLive(database(), 'local'))

  const create = (
    user: Owner,
    wanted: { readonly name?: string; readonly sizeMb?: number } = {},
    suffix?: (length: number) => string,
  ) =>
    createVolume(
      { database: database(), ...(suffix && { randomSuffix: suffix }) },
      { userUuid: user.uuid, sizeMb: 16, ...wanted },
    )
  const created = async (...wanted: Parameters<typeof create>): Promise<VolumeRow> => {
    const outcome = await create(...wanted)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.volume
  }
  /** Records a phase of the volume, as its workflow does. */
  const tell = (volume: Owner, phase: VolumePhase, failure?: string) =>
    recordVolume(
      database(),
      { uuid: volume.uuid, revision: ++revision },
      { phase, made: phase !== VolumePhase.Initializing, ...(failure !== undefined && { failure }) },
    )
  /** Creates a volume that can be attached. */
  const available = async (...wanted: Parameters<typeof create>): Promise<VolumeRow> => {
    const volume = await created(...wanted)
    await tell(volume, VolumePhase.Ready)
    return volume
  }
  const instance = async (user: Owner, more: Partial<NewInstances> = {}): Promise<InstanceRow> => {
    const [row] = await instances(user, more)
    assert.ok(row)
    return row
  }
  /** Records a state of the instance, as its workflow does. */
  const tellInstance = (row: Owner, state: InstanceState, more: Partial<InstanceProjection> = {}) =>
    recordInstance(
      database(),
      { uuid: row.uuid, revision: ++revision },
      { state, boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: 0, ...more },
    )
  const attach = (user: Owner, volume: Owner, to: Owner, mount: Partial<VolumeMount> = {}) =>
    attachVolume(database(), {
      userUuid: user.uuid,
      volumeUuid: volume.uuid,
      instanceUuid: to.uuid,
      mount: { ...testMount, ...mount },
    })
  const detach = (user: Owner, volume: Owner, from?: Owner) =>
    detachVolume(database(), {
      userUuid: user.uuid,
      volumeUuid: volume.uuid,
      ...(from && { instanceUuid: from.uuid }),
    })
  const remove = (user: Owner, volume: Owner) => markVolumeDeleted(database(), user.uuid, volume.uuid)
  const find = async (user: Owner, volume: { readonly uuid: string | null } | undefined) =>
    (await findVolumes(database(), user.uuid, [{ uuid: volume?.uuid ?? '' }]))[0]
  /** The volume that is attached to the instance. */
  const volumeOf = async (user: Owner, row: Pick<InstanceRow, 'volumeUuid'>): Promise<VolumeRow> => {
    const volume = await find(user, { uuid: row.volumeUuid })
    assert.ok(volume, 'the instance has a volume')
    return volume
  }

  return {
    database,
    newUser,
    createInstance,
    instances,
    whileHeld,
    wantedService,
    create,
    created,
    tell,
    available,
    instance,
    tellInstance,
    attach,
    detach,
    remove,
    find,
    volumeOf,
  }
}

/** The refusal of an outcome, or the whole outcome if it was not refused. */
export function refusalOf(outcome: { readonly ok: boolean; readonly refusal?: unknown }): unknown {
  return outcome.ok ? outcome : outcome.refusal
}
