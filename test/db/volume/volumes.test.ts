import { strict as assert } from 'node:assert'
import { markVolumeDeleted } from '../../../src/db/volume/delete.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { setQuotas } from '../../../src/db/account/users.ts'
import { removeVolumeRow } from '../../../src/db/volume/records.ts'
import {
  attachedVolumes,
  findDeletedVolume,
  findVolumes,
  listVolumeNames,
  listVolumes,
} from '../../../src/db/volume/volumes.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { VolumePhase, VolumeUse, volumeState, volumeStates } from '../../../src/domain/volume/state.ts'
import { refusalOf, volumeRecords } from '../../support/volume-records.ts'

describe('volumes', () => {
  const {
    database,
    newUser,
    create,
    created,
    available,
    tell,
    instance,
    tellInstance,
    attach,
    remove,
    find,
  } = volumeRecords()
  const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name)

  it('hold the wanted settings, and are returned as they are read later', async () => {
    const user = await newUser()
    const volume = await created(user, { name: 'data', sizeMb: 100 })
    const { uuid, position, createdAt, ...rest } = volume
    assert.deepEqual(rest, {
      userUuid: user.uuid,
      nodeId: 'local',
      name: 'data',
      sizeMb: 100,
      persistent: true,
      revision: 0,
      phase: 'uninitialized',
      made: false,
      failure: null,
      use: 'none',
      state: 'uninitialized',
      attachedTo: null,
      at: null,
      readonly: false,
    })
    assert.ok(Math.abs(createdAt.getTime() - Date.now()) < 60_000)
    assert.equal(typeof position, 'number')
    assert.deepEqual(await find(user, { uuid }), volume)
  })

  it('can not be created and deleted faster than hosts remove them', async () => {
    const user = await newUser({ volumes: 1 })
    for (let times = 0; times < 2; times++) await remove(user, await created(user))
    assert.deepEqual(refusalOf(await create(user)), {
      kind: 'deleted-excess',
      excess: { quota: 'volumes', value: 3, bound: 2 },
    })
  })

  it('without a name get a generated one, and another if that is taken', async () => {
    const user = await newUser()
    assert.match((await created(user)).name, /^vol-[a-z0-9]{5}$/)
    const suffixes = ['aaaaa', 'aaaaa', 'bbbbb']
    const names = [
      await created(user, {}, () => suffixes.shift()!),
      await created(user, {}, () => suffixes.shift()!),
    ]
    assert.deepEqual(namesOf(names), ['vol-aaaaa', 'vol-bbbbb'])
    await assert.rejects(
      create(user, {}, () => 'aaaaa'),
      /no generated name/,
    )
  })

  it('have a name once per user, until they are deleted', async () => {
    const [ann, bob] = [await newUser(), await newUser()]
    const volume = await created(ann, { name: 'data' })
    await created(bob, { name: 'data' })
    assert.deepEqual(refusalOf(await create(ann, { name: 'data' })), {
      kind: 'volume-name-taken',
      name: 'data',
    })
    await remove(ann, volume)
    await created(ann, { name: 'data' })
  })

  it('of the same name can not be made by two creates at once', async () => {
    const user = await newUser()
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => create(user, { name: 'data' })))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    assert.equal((await listVolumes(database(), user.uuid)).length, 1)
  })

  it('have a size within the limits of the account', async () => {
    const user = await newUser()
    await setQuotas(database(), user.name, { limits: { minVolumeMb: 10, maxVolumeMb: 20 } })
    for (const sizeMb of [9, 21]) {
      const breach = { parameter: 'size_mb', value: sizeMb, min: 10, max: 20 }
      assert.deepEqual(refusalOf(await create(user, { sizeMb })), { kind: 'limit', breach })
    }
    for (const sizeMb of [10, 20]) await created(user, { sizeMb })
  })

  it('are counted in the quotas from their creation to their deletion', async () => {
    const user = await newUser({ volumes: 2, totalVolumeMb: 100 })
    const used = async () => {
      const { volumes, totalVolumeMb } = (await readQuotas(database(), user.uuid))!.used
      return [volumes, totalVolumeMb]
    }
    assert.deepEqual(await used(), [0, 0])
    const first = await created(user, { sizeMb: 60 })
    assert.deepEqual(await used(), [1, 60])
    const tooLarge = { quota: 'totalVolumeMb', value: 101, bound: 100 }
    assert.deepEqual(refusalOf(await create(user, { sizeMb: 41 })), { kind: 'quota', excess: tooLarge })
    await created(user, { sizeMb: 40 })
    const tooMany = { quota: 'volumes', value: 3, bound: 2 }
    assert.deepEqual(refusalOf(await create(user, { sizeMb: 8 })), { kind: 'quota', excess: tooMany })
    await remove(user, first)
    assert.deepEqual(await used(), [1, 40])
    await created(user, { sizeMb: 60 })
  })

  it('can not pass a quota, however many creates run at once', async () => {
    const user = await newUser({ volumes: 100, totalVolumeMb: 50 })
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => create(user, { sizeMb: 10 })))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 5)
    assert.equal((await readQuotas(database(), user.uuid))!.used.totalVolumeMb, 50)
    const refused = outcomes.find(({ ok }) => !ok)!
    const excess = { quota: 'totalVolumeMb', value: 60, bound: 50 }
    assert.deepEqual(refusalOf(refused), { kind: 'quota', excess })
  })

  it('are found by UUID in any case and by name, in the order in which they are asked for', async () => {
    const user = await newUser()
    const [a, b] = [await created(user, { name: 'a' }), await created(user, { name: 'b' })]
    const found = await findVolumes(database(), user.uuid, [
      { name: 'b' },
      { uuid: 'no uuid' },
      { uuid: a.uuid.toUpperCase() },
      { name: 'c' },
      { uuid: b.uuid },
    ])
    assert.deepEqual(found, [b, undefined, a, undefined, b])
  })

  it('are listed in the order of their creation, in pages', async () => {
    const user = await newUser()
    const volumes = []
    for (const name of ['c', 'a', 'd', 'b']) volumes.push(await created(user, { name }))
    assert.deepEqual(await listVolumes(database(), user.uuid), volumes)
    assert.deepEqual(namesOf(await listVolumes(database(), user.uuid, { count: 2, from: 1 })), ['a', 'd'])
    const afterPosition = volumes[1]!.position
    assert.deepEqual(namesOf(await listVolumes(database(), user.uuid, { count: 1, afterPosition })), ['d'])
    const names = await listVolumeNames(database(), user.uuid, { filters: [], count: 2, from: 1 })
    assert.deepEqual(
      names,
      volumes.slice(1, 3).map(({ uuid, name }) => ({ uuid, name })),
    )
  })

  it('are in the state that the domain computes from their phase and their instance', async () => {
    const user = await newUser()
    const holders = { none: undefined, resting: InstanceState.Stopped, live: InstanceState.Running }
    for (const use of Object.values(VolumeUse)) {
      const volume = await available(user, { name: use })
      const holder = await instance(user)
      if (use !== VolumeUse.None) assert.ok((await attach(user, volume, holder)).ok)
      if (holders[use] !== undefined) await tellInstance(holder, holders[use])
      for (const phase of Object.values(VolumePhase)) {
        await tell(volume, phase)
        const row = await find(user, volume)
        assert.deepEqual([row?.phase, row?.use, row?.state], [phase, use, volumeState(phase, use)])
        const attachedTo = use === VolumeUse.None ? null : { uuid: holder.uuid, name: holder.name }
        assert.deepEqual([row?.attachedTo, row?.at], [attachedTo, attachedTo && '/data'])
        for (const state of volumeStates) {
          const listed = await listVolumeNames(database(), user.uuid, { filters: [{ state }] })
          assert.equal(namesOf(listed).includes(use), state === row?.state, `${phase}, ${use}: ${state}`)
        }
      }
    }
  })

  it('are mounted also while their instance waits for its next start', async () => {
    const user = await newUser()
    const volume = await available(user)
    const holder = await instance(user)
    await attach(user, volume, holder)
    const state = async () => (await find(user, volume))?.state
    await tellInstance(holder, InstanceState.Stopped, { restartNextAtMs: Date.now() + 60_000 })
    assert.equal(await state(), 'mounted')
    await tellInstance(holder, InstanceState.Stopped)
    assert.equal(await state(), 'idle')
    await tellInstance(holder, InstanceState.Standby)
    assert.equal(await state(), 'mounted')
  })

  it('are listed if they pass all conditions of any of the filters', async () => {
    const user = await newUser()
    await available(user, { name: 'ready' })
    await created(user, { name: 'new' })
    const mount = { at: '/data', readonly: false }
    const row = await instance(user, { volume: { made: { sizeMb: 16 }, mount } })
    const [made] = await findVolumes(database(), user.uuid, [{ uuid: row.volumeUuid! }])
    const names = async (...filters: Parameters<typeof listVolumeNames>[2]['filters']) =>
      namesOf(await listVolumeNames(database(), user.uuid, { filters }))
    assert.deepEqual(await names({ persistent: true }), ['ready', 'new'])
    assert.deepEqual(await names({ persistent: false }), [made!.name])
    assert.deepEqual(await names({ state: 'uninitialized' }), ['new', made!.name])
    assert.deepEqual(await names({ persistent: true, state: 'uninitialized' }), ['new'])
    assert.deepEqual(await names({ persistent: false }, { state: 'available' }), ['ready', made!.name])
    assert.deepEqual(await names({ persistent: false, state: 'available' }), [])
    assert.deepEqual(await names({}), ['ready', 'new', made!.name])
  })

  it('that are broken say why', async () => {
    const user = await newUser()
    const volume = await available(user)
    await tell(volume, VolumePhase.Error, 'its file is gone')
    assert.partialDeepStrictEqual(await find(user, volume), { state: 'error', failure: 'its file is gone' })
    await tell(volume, VolumePhase.Ready)
    assert.partialDeepStrictEqual(await find(user, volume), { state: 'available', failure: null })
  })

  it('that are deleted are returned as they were, and found only by the search for deleted volumes', async () => {
    const user = await newUser()
    const volume = await available(user, { name: 'data' })
    const before = await find(user, volume)
    assert.equal(await findDeletedVolume(database(), volume.uuid), undefined)
    assert.deepEqual(await remove(user, volume), { ok: true, volume: before })
    const { uuid } = volume
    assert.deepEqual(await findVolumes(database(), user.uuid, [{ uuid }, { name: 'data' }]), [
      undefined,
      undefined,
    ])
    assert.deepEqual(await listVolumes(database(), user.uuid), [])
    assert.deepEqual(await listVolumeNames(database(), user.uuid, { filters: [] }), [])
    assert.deepEqual(await findDeletedVolume(database(), uuid), before)
    await removeVolumeRow(database(), uuid)
    assert.equal(await findDeletedVolume(database(), uuid), undefined)
  })

  it('are found by one of several deletes', async () => {
    const user = await newUser()
    const volume = await created(user)
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => remove(user, volume)))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    const refused = { kind: 'volume-not-found', by: 'uuid', value: volume.uuid }
    assert.deepEqual(refusalOf(outcomes.find(({ ok }) => !ok)!), refused)
  })

  it('that were never there are not found', async () => {
    const user = await newUser()
    for (const uuid of ['00000000-0000-4000-8000-000000000000', 'no uuid']) {
      const outcome = await markVolumeDeleted(database(), user.uuid, uuid)
      assert.deepEqual(refusalOf(outcome), { kind: 'volume-not-found', by: 'uuid', value: uuid })
    }
    const nobody = { uuid: '00000000-0000-4000-8000-000000000000' }
    assert.deepEqual(refusalOf(await create(nobody)), { kind: 'no-user' })
  })

  it('are shown by their instances with their names', async () => {
    const user = await newUser()
    const { uuid, name } = await available(user)
    const holder = await instance(user)
    await attach(user, { uuid }, holder)
    const shown = await attachedVolumes(database(), [{ volumeUuid: null }, { volumeUuid: uuid }])
    assert.deepEqual([...shown], [[uuid, { uuid, name }]])
    assert.deepEqual([...(await attachedVolumes(database(), [{ volumeUuid: null }]))], [])
  })
})
