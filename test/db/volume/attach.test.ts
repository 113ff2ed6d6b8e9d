import { strict as assert } from 'node:assert'
import { lockUser } from '../../../src/db/account/user-lock.ts'
import { findByUuids, markDeleted, reserveLive } from '../../../src/db/instance/instances.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { addNode } from '../../support/accounts.ts'
import { refusalOf, volumeRecords } from '../../support/volume-records.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'

interface Outcome {
  readonly ok: boolean
  readonly refusal?: unknown
}

describe('a volume that is attached', () => {
  const {
    database,
    newUser,
    whileHeld,
    created,
    available,
    tell,
    instance,
    tellInstance,
    attach,
    detach,
    remove,
    find,
  } = volumeRecords()
  const reread = async (row: { readonly uuid: string }) => (await findByUuids(database(), [row.uuid]))[0]

  it('is shown by both sides, and by neither once it is detached', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user), await instance(user)]
    const { uuid, name } = volume
    assert.deepEqual(await attach(user, volume, holder, { at: '/var/lib', readonly: true }), {
      ok: true,
      volume: { uuid, name },
    })
    assert.partialDeepStrictEqual(await find(user, volume), {
      state: 'idle',
      attachedTo: { uuid: holder.uuid, name: holder.name },
      at: '/var/lib',
      readonly: true,
    })
    const attached = { volumeUuid: uuid, volumeAt: '/var/lib', volumeReadonly: true }
    assert.partialDeepStrictEqual(await reread(holder), attached)
    assert.deepEqual(await detach(user, volume), { ok: true, volume: { uuid, name } })
    assert.partialDeepStrictEqual(await find(user, volume), {
      state: 'available',
      attachedTo: null,
      at: null,
      readonly: false,
    })
    assert.deepEqual(await reread(holder), holder)
  })

  it('goes from one instance to another', async () => {
    const user = await newUser()
    const [volume, first, second] = [await available(user), await instance(user), await instance(user)]
    await attach(user, volume, first)
    await detach(user, volume, first)
    assert.ok((await attach(user, volume, second)).ok)
    assert.equal((await find(user, volume))?.attachedTo?.uuid, second.uuid)
  })

  it('must be available', async () => {
    const user = await newUser()
    const holder = await instance(user)
    const volume = await created(user, { name: 'data' })
    const refused = { kind: 'volume-not-available', name: 'data', attachedTo: null, failure: null }
    for (const [phase, state] of [
      [undefined, 'uninitialized'],
      [VolumePhase.Initializing, 'initializing'],
      [VolumePhase.Busy, 'busy'],
    ] as const) {
      if (phase !== undefined) await tell(volume, phase)
      assert.deepEqual(refusalOf(await attach(user, volume, holder)), { ...refused, state })
    }
    await tell(volume, VolumePhase.Error, 'gone')
    const broken = { ...refused, state: 'error', failure: 'gone' }
    assert.deepEqual(refusalOf(await attach(user, volume, holder)), broken)
    await tell(volume, VolumePhase.Ready)
    assert.ok((await attach(user, volume, holder)).ok)
  })

  it('is not attached a second time, to the same instance or to another', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user, { name: 'data' }), await instance(user, { name: 'web' })]
    await attach(user, volume, holder)
    for (const to of [holder, await instance(user)]) {
      assert.deepEqual(refusalOf(await attach(user, volume, to)), {
        kind: 'volume-not-available',
        name: 'data',
        state: 'idle',
        attachedTo: { uuid: holder.uuid, name: 'web' },
        failure: null,
      })
    }
    await tellInstance(holder, InstanceState.Running)
    const refusal = refusalOf(await attach(user, volume, holder))
    assert.partialDeepStrictEqual(refusal, { kind: 'volume-not-available', state: 'mounted' })
  })

  it('is the only one of its instance', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user, { name: 'data' }), await instance(user, { name: 'web' })]
    await attach(user, volume, holder)
    assert.deepEqual(refusalOf(await attach(user, await available(user), holder)), {
      kind: 'instance-has-volume',
      name: 'web',
      volume: { uuid: volume.uuid, name: 'data' },
    })
  })

  it('is neither attached nor detached unless its instance is stopped and not about to start', async () => {
    const user = await newUser()
    const [holder, free] = [await instance(user, { name: 'web' }), await available(user, { name: 'free' })]
    const other = await instance(user, { name: 'other' })
    const volume = await available(user, { name: 'data' })
    await attach(user, volume, holder)
    const refusedIn = async (state: InstanceState) => {
      const { uuid, name } = holder
      const mounted = { kind: 'volume-mounted', name: 'data', instance: { uuid, name, state } }
      assert.deepEqual(refusalOf(await detach(user, volume)), mounted, state)
      assert.deepEqual(refusalOf(await detach(user, volume, holder)), mounted, state)
      const notStopped = { kind: 'instance-not-stopped', name: 'other', state }
      assert.deepEqual(refusalOf(await attach(user, free, other)), notStopped, state)
    }
    const states = Object.values(InstanceState).filter((state) => state !== InstanceState.Stopped)
    assert.ok(states.length >= 5)
    for (const state of states) {
      for (const row of [holder, other]) await tellInstance(row, state)
      await refusedIn(state)
    }
    const restartNextAtMs = Date.now() + 60_000
    for (const row of [holder, other]) await tellInstance(row, InstanceState.Stopped, { restartNextAtMs })
    await refusedIn(InstanceState.Stopped)
    for (const row of [holder, other]) await tellInstance(row, InstanceState.Stopped)
    for (const row of [holder, other]) {
      assert.deepEqual(await reserveLive(database(), user.uuid, row.uuid), { ok: true })
    }
    await refusedIn(InstanceState.Stopped)
  })

  it('is detached also while it is broken or being repaired', async () => {
    const user = await newUser()
    for (const phase of [VolumePhase.Error, VolumePhase.Busy]) {
      const [volume, holder] = [await available(user), await instance(user)]
      await attach(user, volume, holder)
      await tell(volume, phase)
      assert.ok((await detach(user, volume, holder)).ok)
      assert.equal((await find(user, volume))?.attachedTo, null)
    }
  })

  it('is not detached from an instance that does not have it', async () => {
    const user = await newUser()
    const [volume, other] = [await available(user, { name: 'data' }), await instance(user)]
    const { uuid, name } = other
    const refused = { kind: 'volume-not-attached', name: 'data', instance: { uuid, name } }
    assert.deepEqual(refusalOf(await detach(user, volume, other)), refused)
    const holder = await instance(user)
    await attach(user, volume, holder)
    assert.deepEqual(refusalOf(await detach(user, volume, other)), refused)
    assert.equal((await find(user, volume))?.attachedTo?.uuid, holder.uuid)
    assert.ok((await detach(user, volume, { uuid: holder.uuid.toUpperCase() })).ok)
  })

  it('stays as it is if it is detached while no instance has it', async () => {
    const user = await newUser()
    const volume = await available(user)
    const before = await find(user, volume)
    assert.ok((await detach(user, volume)).ok)
    assert.deepEqual(await find(user, volume), before)
  })

  it('must exist, and so must the instance', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user), await instance(user)]
    for (const uuid of [nowhere, 'no uuid']) {
      const noVolume = { kind: 'volume-not-found', by: 'uuid', value: uuid }
      const noInstance = { kind: 'instance-not-found', by: 'uuid', value: uuid }
      assert.deepEqual(refusalOf(await attach(user, { uuid }, holder)), noVolume)
      assert.deepEqual(refusalOf(await attach(user, volume, { uuid })), noInstance)
      assert.deepEqual(refusalOf(await detach(user, { uuid })), noVolume)
      assert.deepEqual(refusalOf(await detach(user, volume, { uuid })), noInstance)
    }
    await markDeleted(database(), user.uuid, holder.uuid)
    assert.partialDeepStrictEqual(refusalOf(await attach(user, volume, holder)), {
      kind: 'instance-not-found',
    })
    await remove(user, volume)
    const other = await instance(user)
    assert.partialDeepStrictEqual(refusalOf(await attach(user, volume, other)), { kind: 'volume-not-found' })
    assert.deepEqual(refusalOf(await attach({ uuid: nowhere }, volume, other)), { kind: 'no-user' })
  })

  it('must be on the host of its instance', async () => {
    const user = await newUser()
    const volume = await available(user, { name: 'data' })
    await addNode(database(), { id: 'larger', memoryMb: 1_000_000, volumeMb: 0 })
    const elsewhere = await instance(user, { name: 'web' })
    assert.deepEqual(refusalOf(await attach(user, volume, elsewhere)), {
      kind: 'volume-elsewhere',
      volume: { name: 'data', nodeId: 'local' },
      instance: { name: 'web', nodeId: 'larger' },
    })
    const { db } = database()
    await db
      .updateTable('nodes')
      .set({ heartbeatAt: new Date(0) })
      .where('id', '=', 'larger')
      .execute()
  })

  it('is not deleted', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user, { name: 'data' }), await instance(user, { name: 'web' })]
    await attach(user, volume, holder)
    const refused = { kind: 'volume-attached', name: 'data', instance: { uuid: holder.uuid, name: 'web' } }
    assert.deepEqual(refusalOf(await remove(user, volume)), refused)
    await tellInstance(holder, InstanceState.Running)
    assert.deepEqual(refusalOf(await remove(user, volume)), refused)
    await tellInstance(holder, InstanceState.Stopped)
    await detach(user, volume)
    assert.ok((await remove(user, volume)).ok)
  })

  it('changes nothing in the feed for gateways', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user), await instance(user)]
    const told = () =>
      database().db.selectFrom('instances').select('feedXid').where('uuid', '=', holder.uuid).execute()
    const before = await told()
    await attach(user, volume, holder)
    await detach(user, volume)
    assert.deepEqual(await told(), before)
  })

  it('goes to one of several instances that ask for it at once', async () => {
    const user = await newUser()
    const volume = await available(user)
    const rows = []
    for (let index = 0; index < 6; index++) rows.push(await instance(user))
    const outcomes = await Promise.all(rows.map((row) => attach(user, volume, row)))
    const winners = rows.filter((_, index) => outcomes[index]!.ok)
    assert.equal(winners.length, 1)
    assert.equal((await find(user, volume))?.attachedTo?.uuid, winners[0]!.uuid)
    for (const outcome of outcomes.filter(({ ok }) => !ok)) {
      assert.partialDeepStrictEqual(refusalOf(outcome), { kind: 'volume-not-available', state: 'idle' })
    }
  })

  it('is the only one if several are attached to one instance at once', async () => {
    const user = await newUser()
    const holder = await instance(user)
    const volumes = []
    for (let index = 0; index < 6; index++) volumes.push(await available(user))
    const outcomes = await Promise.all(volumes.map((volume) => attach(user, volume, holder)))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    const winner = volumes.find((_, index) => outcomes[index]!.ok)
    assert.equal((await reread(holder))?.volumeUuid, winner?.uuid)
  })

  it('is attached before a start or not at all', async () => {
    for (const startsFirst of [true, false]) {
      const user = await newUser()
      const [volume, holder] = [await available(user), await instance(user)]
      const start = () => reserveLive(database(), user.uuid, holder.uuid)
      const give = () => attach(user, volume, holder)
      const [first, second] = await whileHeld<Outcome, Outcome>(
        (db) => lockUser(db, user.uuid),
        (blocked) =>
          startsFirst ? [start(), blocked(1).then(() => give())] : [give(), blocked(1).then(() => start())],
        2,
      )
      if (startsFirst) {
        assert.ok(first.ok)
        assert.partialDeepStrictEqual(refusalOf(second), { kind: 'instance-not-stopped', state: 'stopped' })
        assert.equal((await reread(holder))?.volumeUuid, null)
      } else {
        assert.deepEqual([first.ok, second.ok], [true, true])
        assert.partialDeepStrictEqual(refusalOf(await detach(user, volume)), { kind: 'volume-mounted' })
      }
    }
  })

  it('is never attached during a start, whichever is faster', async () => {
    for (let round = 0; round < 20; round++) {
      const user = await newUser()
      const [volume, holder] = [await available(user), await instance(user)]
      const [given, reserved] = await Promise.all([
        attach(user, volume, holder),
        reserveLive(database(), user.uuid, holder.uuid).then(async (outcome) => {
          // The volume that a host would get in the launch spec if it started the instance now.
          return { outcome, volumeUuid: (await reread(holder))?.volumeUuid }
        }),
      ])
      assert.ok(reserved.outcome.ok)
      assert.equal(reserved.volumeUuid !== null, given.ok)
    }
  })

  it('is judged by its state after the wait for a lock, not by that before', async () => {
    const user = await newUser()
    const [volume, holder] = [await available(user), await instance(user)]
    // The attach waits for the lock of the user. Meanwhile the workflow records the error, and then a start
    // waits behind the attach. The lock is released when both wait.
    const [given] = await whileHeld(
      (db) => lockUser(db, user.uuid),
      (blocked) => [
        attach(user, volume, holder),
        blocked(1)
          .then(() => tell(volume, VolumePhase.Error, 'found broken'))
          .then(() => reserveLive(database(), user.uuid, holder.uuid)),
      ],
      2,
    )
    assert.partialDeepStrictEqual(refusalOf(given), { kind: 'volume-not-available', failure: 'found broken' })
  })

  it('is never deleted, nor attached once it is deleted', async () => {
    for (let round = 0; round < 20; round++) {
      const user = await newUser()
      const [volume, holder] = [await available(user), await instance(user)]
      const [given, removed] = await Promise.all([attach(user, volume, holder), remove(user, volume)])
      assert.notEqual(given.ok, removed.ok)
      assert.equal((await reread(holder))?.volumeUuid, given.ok ? volume.uuid : null)
      const refused = given.ok ? refusalOf(removed) : refusalOf(given)
      assert.partialDeepStrictEqual(refused, { kind: given.ok ? 'volume-attached' : 'volume-not-found' })
    }
  })
})
