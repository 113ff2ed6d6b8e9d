import { strict as assert } from 'node:assert'
import { lockUser } from '../../../src/db/account/user-lock.ts'
import { findByUuids, markDeleted, reserveLive } from '../../../src/db/instance/instances.ts'
import { loadLaunchSpec } from '../../../src/db/host/instances.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { findVolumes, listVolumeNames, listVolumes } from '../../../src/db/volume/volumes.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { refusalOf, testMount as mount, volumeRecords } from '../../support/volume-records.ts'

describe('volumes of other users', () => {
  const {
    database,
    newUser,
    createInstance,
    whileHeld,
    create,
    available,
    instance,
    tellInstance,
    attach,
    detach,
    remove,
    find,
    volumeOf,
  } = volumeRecords()

  /** Two users, and the objects of the first, Ann. Tests let the second, Bob, try to reach them. */
  async function twoTenants() {
    const [ann, bob] = [await newUser(), await newUser()]
    const volume = await available(ann, { name: 'data' })
    const row = await instance(ann, { name: 'web', volume: { made: { sizeMb: 16 }, mount } })
    const free = await instance(ann, { name: 'free' })
    const all = async () => [
      await listVolumes(database(), ann.uuid),
      await findByUuids(database(), [row.uuid, free.uuid]),
      await readQuotas(database(), ann.uuid),
    ]
    return { ann, bob, volume, row, free, all }
  }
  const noVolume = (volume: { readonly uuid: string }) => {
    return { kind: 'volume-not-found', by: 'uuid', value: volume.uuid }
  }
  const noInstance = (row: { readonly uuid: string }) => {
    return { kind: 'instance-not-found', by: 'uuid', value: row.uuid }
  }

  it('are not seen', async () => {
    const { ann, bob, volume, row } = await twoTenants()
    const made = await volumeOf(ann, row)
    const identifiers = [{ uuid: volume.uuid }, { name: 'data' }, { uuid: made.uuid }, { name: made.name }]
    const found = await findVolumes(database(), bob.uuid, identifiers)
    assert.deepEqual(found, [undefined, undefined, undefined, undefined])
    assert.deepEqual(await listVolumes(database(), bob.uuid), [])
    for (const filters of [
      [],
      [{}],
      [{ persistent: true }, { persistent: false }, { state: volume.state }],
    ]) {
      assert.deepEqual(await listVolumeNames(database(), bob.uuid, { filters }), [])
    }
    const own = await available(bob, { name: 'data' })
    assert.equal((await findVolumes(database(), bob.uuid, [{ name: 'data' }]))[0]?.uuid, own.uuid)
    assert.equal((await findVolumes(database(), ann.uuid, [{ name: 'data' }]))[0]?.uuid, volume.uuid)
  })

  it('are neither attached, detached nor deleted', async () => {
    const { ann, bob, volume, row, free, all } = await twoTenants()
    const [own, ownVolume] = [await instance(bob, { name: 'web' }), await available(bob)]
    const made = await volumeOf(ann, row)
    const before = await all()
    for (const theirs of [volume, made]) {
      assert.deepEqual(refusalOf(await attach(bob, theirs, own)), noVolume(theirs))
      assert.deepEqual(refusalOf(await attach(bob, theirs, free)), noVolume(theirs))
      assert.deepEqual(refusalOf(await detach(bob, theirs)), noVolume(theirs))
      assert.deepEqual(refusalOf(await detach(bob, theirs, row)), noVolume(theirs))
      assert.deepEqual(refusalOf(await remove(bob, theirs)), noVolume(theirs))
    }
    for (const theirs of [row, free]) {
      assert.deepEqual(refusalOf(await attach(bob, ownVolume, theirs)), noInstance(theirs))
      assert.deepEqual(refusalOf(await detach(bob, ownVolume, theirs)), noInstance(theirs))
    }
    assert.equal(await markDeleted(database(), bob.uuid, row.uuid), undefined)
    assert.deepEqual(await all(), before)
    assert.equal((await find(bob, ownVolume))?.state, 'available')
  })

  it('go with no new instance', async () => {
    const { bob, volume, all } = await twoTenants()
    const before = await all()
    for (const existing of [{ uuid: volume.uuid }, { name: 'data' }]) {
      const [[by, value] = []] = Object.entries(existing)
      const outcome = await createInstance(bob, { volume: { existing, mount } })
      assert.deepEqual(refusalOf(outcome), { kind: 'volume-not-found', by, value })
    }
    assert.deepEqual(await all(), before)
  })

  it('take nothing from the quotas, and are not waited for', async () => {
    const { ann, bob } = await twoTenants()
    assert.deepEqual((await readQuotas(database(), bob.uuid))!.used.totalVolumeMb, 0)
    const [blocked, free] = await whileHeld(
      (db) => lockUser(db, ann.uuid),
      (waiting) => {
        const own = waiting(1).then(async () => {
          const holder = await instance(bob)
          const volume = await available(bob)
          assert.ok((await attach(bob, volume, holder)).ok)
          assert.ok((await detach(bob, volume)).ok)
          assert.ok((await remove(bob, volume)).ok)
        })
        // The lock is released when two calls wait. The second one is made after Bob's calls, so these ran
        // while the lock was held.
        return [create(ann), own.then(() => create(ann))]
      },
      2,
    )
    assert.deepEqual([blocked.ok, free.ok], [true, true])
  })

  it('are named only to the host of the instance that has them', async () => {
    const { bob, row } = await twoTenants()
    const own = await instance(bob)
    assert.deepEqual(await reserveLive(database(), bob.uuid, own.uuid), { ok: true })
    await tellInstance(own, InstanceState.Running)
    const deps = { database: database(), secretBox: testSecretBox }
    const spec = async (uuid: string, nodeId = 'local') => loadLaunchSpec(deps, { nodeId, uuid })
    assert.equal((await spec(own.uuid))?.volume, undefined)
    assert.equal((await spec(row.uuid))?.volume?.uuid, row.volumeUuid)
    assert.equal(await spec(row.uuid, 'other'), undefined)
  })
})
