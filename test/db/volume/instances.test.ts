import { strict as assert } from 'node:assert'
import { lockUser } from '../../../src/db/account/user-lock.ts'
import { findByUuids, listInstances, markDeleted } from '../../../src/db/instance/instances.ts'
import { loadLaunchSpec } from '../../../src/db/host/instances.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../../../src/db/instance/records.ts'
import { removeVolumeRow } from '../../../src/db/volume/records.ts'
import { findDeletedVolume, listVolumes } from '../../../src/db/volume/volumes.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { refusalOf, testMount as mount, volumeRecords } from '../../support/volume-records.ts'

describe('an instance that is created with a volume', () => {
  const {
    database,
    newUser,
    createInstance,
    instances,
    whileHeld,
    create,
    created,
    available,
    tell,
    instance,
    tellInstance,
    attach,
    detach,
    remove,
    find,
    volumeOf,
  } = volumeRecords()
  const made = (sizeMb = 16) => ({ made: { sizeMb }, mount })
  const ends = (user: { readonly uuid: string }) => [
    (uuid: string) => markDeleted(database(), user.uuid, uuid),
    (uuid: string) => markEphemeralDeleted(database(), uuid),
  ]

  it('has a new volume of its own that is not persistent', async () => {
    const user = await newUser()
    const readonly = { at: '/srv/data', readonly: true }
    const row = await instance(user, { volume: { made: { sizeMb: 20 }, mount: readonly } })
    assert.deepEqual([row.volumeAt, row.volumeReadonly], ['/srv/data', true])
    const volume = await volumeOf(user, row)
    assert.match(volume.name, /^vol-[a-z0-9]{5}$/)
    assert.partialDeepStrictEqual(volume, {
      sizeMb: 20,
      persistent: false,
      state: 'uninitialized',
      use: 'resting',
      nodeId: row.nodeId,
      attachedTo: { uuid: row.uuid, name: row.name },
      ...readonly,
    })
  })

  it('has an existing volume, given by UUID or name, which stays persistent', async () => {
    const user = await newUser()
    const volume = await available(user, { name: 'data' })
    const row = await instance(user, { volume: { existing: { name: 'data' }, mount } })
    assert.equal(row.volumeUuid, volume.uuid)
    assert.partialDeepStrictEqual(await find(user, volume), { persistent: true, state: 'idle' })
    await markDeleted(database(), user.uuid, row.uuid)
    const again = { existing: { uuid: volume.uuid.toUpperCase() }, mount }
    const second = await instance(user, { autostart: true, volume: again })
    assert.equal(second.volumeUuid, volume.uuid)
    assert.equal((await find(user, volume))?.state, 'mounted')
  })

  it('shares a new one with no replica', async () => {
    const user = await newUser()
    const rows = await instances(user, { replicas: 2, volume: made(10) })
    const volumes = await listVolumes(database(), user.uuid)
    assert.deepEqual(
      volumes.map(({ uuid }) => uuid),
      rows.map(({ volumeUuid }) => volumeUuid),
    )
    assert.deepEqual(
      volumes.map(({ attachedTo }) => attachedTo?.uuid),
      rows.map(({ uuid }) => uuid),
    )
    assert.equal(new Set(volumes.map(({ name }) => name)).size, 3)
  })

  it('can not share one that exists with replicas', async () => {
    const user = await newUser()
    await available(user, { name: 'data' })
    const outcome = await createInstance(user, { replicas: 1, volume: { existing: { name: 'data' }, mount } })
    assert.deepEqual(refusalOf(outcome), { kind: 'volume-with-replicas', name: 'data', replicas: 1 })
    assert.deepEqual(await listInstances(database(), { userUuid: user.uuid }), [])
  })

  it('is refused unless the existing volume is available', async () => {
    const user = await newUser()
    const volume = await created(user, { name: 'data' })
    const choice = { volume: { existing: { name: 'data' }, mount } }
    const refused = { kind: 'volume-not-available', name: 'data', attachedTo: null, failure: null }
    const uninitialized = refusalOf(await createInstance(user, choice))
    assert.deepEqual(uninitialized, { ...refused, state: 'uninitialized' })
    await tell(volume, VolumePhase.Ready)
    const { uuid, name } = await instance(user, choice)
    const attached = refusalOf(await createInstance(user, choice))
    assert.deepEqual(attached, { ...refused, state: 'idle', attachedTo: { uuid, name } })
    for (const existing of [{ name: 'none' }, { uuid: 'no uuid' }]) {
      const [[by, value] = []] = Object.entries(existing)
      const absent = refusalOf(await createInstance(user, { volume: { existing, mount } }))
      assert.deepEqual(absent, { kind: 'volume-not-found', by, value })
    }
  })

  it('counts new volumes in the quotas and keeps their limits, or nothing is created', async () => {
    const user = await newUser({ volumes: 2, totalVolumeMb: 40 })
    for (const [more, refused] of [
      [
        { replicas: 2, volume: made(10) },
        { kind: 'quota', excess: { quota: 'volumes', value: 3, bound: 2 } },
      ],
      [
        { replicas: 1, volume: made(21) },
        { kind: 'quota', excess: { quota: 'totalVolumeMb', value: 42, bound: 40 } },
      ],
      [
        { volume: made(7) },
        { kind: 'limit', breach: { parameter: 'size_mb', value: 7, min: 8, max: 20_480 } },
      ],
    ] as const) {
      assert.deepEqual(refusalOf(await createInstance(user, more)), refused)
    }
    assert.deepEqual(await listVolumes(database(), user.uuid), [])
    await instances(user, { replicas: 1, volume: made(20) })
    const { volumes, totalVolumeMb } = (await readQuotas(database(), user.uuid))!.used
    assert.deepEqual([volumes, totalVolumeMb], [2, 40])
  })

  it('exceeds no quota together with volumes that are created at the same time', async () => {
    const user = await newUser({ totalVolumeMb: 50 })
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0 ? create(user, { sizeMb: 10 }) : createInstance(user, { volume: made(10) }),
      ),
    )
    assert.equal(outcomes.filter(({ ok }) => ok).length, 5)
    assert.equal((await listVolumes(database(), user.uuid)).length, 5)
  })

  it('deletes its own volume when it is deleted, by its user or by its stop', async () => {
    const user = await newUser({ volumes: 1 })
    for (const end of ends(user)) {
      const row = await instance(user, { volume: made() })
      const volume = await volumeOf(user, row)
      await end(row.uuid)
      assert.equal(await find(user, volume), undefined)
      assert.partialDeepStrictEqual(await findDeletedVolume(database(), volume.uuid), { attachedTo: null })
      assert.equal((await readQuotas(database(), user.uuid))!.used.volumes, 0)
      // A repeat of the delete finds nothing to do.
      await end(row.uuid)
    }
  })

  it('leaves a volume that was detached once and is attached again', async () => {
    const user = await newUser()
    for (const end of ends(user)) {
      const row = await instance(user, { volume: made() })
      const volume = await volumeOf(user, row)
      await tell(volume, VolumePhase.Ready)
      assert.ok((await detach(user, volume)).ok)
      assert.equal((await find(user, volume))?.persistent, true)
      assert.ok((await attach(user, volume, row)).ok)
      await end(row.uuid)
      assert.partialDeepStrictEqual(await find(user, volume), { state: 'available', attachedTo: null })
    }
  })

  it('leaves its rows to be removed in either order', async () => {
    const user = await newUser()
    for (const isVolumeFirst of [true, false]) {
      const row = await instance(user, { volume: made() })
      await markDeleted(database(), user.uuid, row.uuid)
      const steps = [
        () => removeVolumeRow(database(), row.volumeUuid!),
        () => removeInstanceRow(database(), row.uuid),
      ]
      for (const step of isVolumeFirst ? steps : steps.toReversed()) await step()
      assert.equal(await findDeletedVolume(database(), row.volumeUuid!), undefined)
    }
  })

  it('frees a persistent one for the next although its own row is still there', async () => {
    const user = await newUser()
    const volume = await available(user)
    const first = await instance(user, { volume: { existing: { uuid: volume.uuid }, mount } })
    await markDeleted(database(), user.uuid, first.uuid)
    const second = await instance(user)
    assert.ok((await attach(user, volume, second)).ok)
    await removeInstanceRow(database(), first.uuid)
    assert.equal((await find(user, volume))?.attachedTo?.uuid, second.uuid)
    await markDeleted(database(), user.uuid, second.uuid)
    assert.ok((await remove(user, volume)).ok)
  })

  it('is deleted with it, or without it after a detach', async () => {
    for (const deletesFirst of [true, false]) {
      const user = await newUser()
      const row = await instance(user, { volume: made() })
      const volume = await volumeOf(user, row)
      const end = () => markDeleted(database(), user.uuid, row.uuid)
      const [first, second] = await whileHeld<unknown, unknown>(
        (db) => lockUser(db, user.uuid),
        (blocked) =>
          deletesFirst
            ? [end(), blocked(1).then(() => detach(user, volume))]
            : [detach(user, volume), blocked(1).then(end)],
        2,
      )
      const [ended, detached] = deletesFirst ? [first, second] : [second, first]
      assert.ok(ended)
      if (deletesFirst) {
        const refused = { ok: false, refusal: { kind: 'volume-not-found' } }
        assert.partialDeepStrictEqual(detached, refused)
        assert.ok(await findDeletedVolume(database(), volume.uuid))
      } else {
        assert.partialDeepStrictEqual(detached, { ok: true })
        assert.partialDeepStrictEqual(await find(user, volume), { persistent: true, attachedTo: null })
      }
    }
  })

  it('leaves a volume that is detached in time, whichever is faster', async () => {
    for (let round = 0; round < 20; round++) {
      const user = await newUser()
      const row = await instance(user, { volume: made() })
      const volume = await volumeOf(user, row)
      const [detached] = await Promise.all([
        detach(user, volume),
        markDeleted(database(), user.uuid, row.uuid),
      ])
      const found = await find(user, volume)
      assert.equal(found !== undefined, detached.ok)
      if (found !== undefined) assert.partialDeepStrictEqual(found, { persistent: true, attachedTo: null })
    }
  })

  it('is the only one of several that are created with the same volume at once', async () => {
    const user = await newUser()
    const { uuid } = await available(user)
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => createInstance(user, { volume: { existing: { uuid }, mount } })),
    )
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    assert.equal((await listInstances(database(), { userUuid: user.uuid })).length, 1)
  })

  it('is started with what its rows say', async () => {
    const user = await newUser()
    const spec = async (uuid: string) => {
      const deps = { database: database(), secretBox: testSecretBox }
      return loadLaunchSpec(deps, { nodeId: 'local', uuid })
    }
    const plain = await instance(user)
    assert.equal((await spec(plain.uuid))?.uuid, plain.uuid)
    assert.ok(!('volume' in (await spec(plain.uuid))!))
    const volume = await created(user, { sizeMb: 24 })
    await tell(volume, VolumePhase.Ready)
    await attach(user, volume, plain, { at: '/data', readonly: true })
    const attached = { uuid: volume.uuid, sizeMb: 24, made: true, at: '/data', readonly: true }
    assert.deepEqual((await spec(plain.uuid))?.volume, attached)
    const row = await instance(user, { volume: made(9) })
    const own = { uuid: row.volumeUuid, sizeMb: 9, made: false, ...mount }
    assert.deepEqual((await spec(row.uuid))?.volume, own)
    await detach(user, volume)
    assert.ok(!('volume' in (await spec(plain.uuid))!))
  })

  it('keeps it while it runs and while it waits to be deleted', async () => {
    const user = await newUser()
    const row = await instance(user, { deleteOnStop: true, volume: made() })
    const volume = await volumeOf(user, row)
    await tellInstance(row, InstanceState.Running)
    assert.partialDeepStrictEqual(refusalOf(await detach(user, volume)), { kind: 'volume-mounted' })
    await markEphemeralDeleted(database(), row.uuid)
    assert.deepEqual(await findByUuids(database(), [row.uuid]), [])
    assert.partialDeepStrictEqual(refusalOf(await remove(user, volume)), { kind: 'volume-not-found' })
  })
})
