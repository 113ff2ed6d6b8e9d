import { strict as assert } from 'node:assert'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { createVolume } from '../../../src/db/volume/create.ts'
import { recordVolume } from '../../../src/db/volume/records.ts'
import { listVolumes } from '../../../src/db/volume/volumes.ts'
import { ago } from '../../../src/db/sql/time.ts'
import { nodeSilentAfterMs, placementSilentAfterMs } from '../../../src/domain/host/api-protocol.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { testMount as mount } from '../../support/volume-records.ts'

const memoryMb = 4_096

describe('the placement on three hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'placement', poolSize: 10 })
    user = await addUser(database, { name: 'ann', hard: { liveMemoryMb: 1_000_000 } })
    for (const id of ['h1', 'h2', 'h3']) await addNode(database, { id, memoryMb, cpus: 4 })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const create = async (wanted: Partial<NewInstances> = {}) => {
    const outcome = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, wanted),
    )
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances
  }
  const hostsOf = async (wanted: Partial<NewInstances> = {}) =>
    (await create(wanted)).map(({ nodeId }) => nodeId)
  const volumeHost = async (sizeMb: number) => {
    const outcome = await createVolume({ database }, { userUuid: user.uuid, sizeMb })
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.volume.nodeId
  }
  const volumeOn = async (nodeId: string) => {
    const volume = (await listVolumes(database, user.uuid)).find((one) => one.nodeId === nodeId)
    assert.ok(volume)
    await recordVolume(database, { uuid: volume.uuid, revision: 1 }, { phase: VolumePhase.Ready, made: true })
    return volume
  }
  const silentFor = (id: string, ms: number) =>
    database.db
      .updateTable('nodes')
      .set({ heartbeatAt: ago(ms) })
      .where('id', '=', id)
      .execute()
  const service = (name: string) => ({
    made: { name, ports: [], domains: [], softLimit: 1, hardLimit: 1, metroDomain: 'test' },
  })

  it('spreads instances that are made stopped', async () => {
    const hosts = []
    for (let count = 0; count < 6; count++) hosts.push(...(await hostsOf()))
    assert.deepEqual(hosts, ['h1', 'h2', 'h3', 'h1', 'h2', 'h3'])
  })

  it('counts instances that stopped or sleep like those that run', async () => {
    for (const state of [InstanceState.Stopped, InstanceState.Standby]) {
      assert.deepEqual(await hostsOf({ autostart: true }), ['h1'])
      await database.db.updateTable('instances').set({ state }).execute()
      assert.deepEqual(await hostsOf(), ['h2'])
      assert.deepEqual(await hostsOf({ memoryMb: 512 }), ['h3'])
      await database.db.deleteFrom('instances').execute()
    }
  })

  it('spreads the instances of one request, and those that a service gets later', async () => {
    assert.deepEqual(await hostsOf({ memoryMb: 1_024 }), ['h1'])
    assert.deepEqual((await hostsOf({ replicas: 2, service: service('web') })).toSorted(), ['h1', 'h2', 'h3'])
    assert.deepEqual(await hostsOf({ memoryMb: 2_048 }), ['h2'])
    // By memory alone, all of these would go to the third host.
    const more = []
    for (let count = 0; count < 3; count++)
      more.push(...(await hostsOf({ service: { existing: { name: 'web' } } })))
    assert.deepEqual(more.toSorted(), ['h1', 'h2', 'h3'])
    assert.deepEqual(await hostsOf({ replicas: 1, service: service('other') }), ['h3', 'h1'])
  })

  it('counts the vCPUs of a host for what its processors may be promised', async () => {
    await addNode(database, { id: 'h1', memoryMb, cpus: 1 })
    const hosts = []
    for (let count = 0; count < 6; count++) hosts.push(...(await hostsOf({ memoryMb: 16 })))
    assert.deepEqual(hosts, ['h2', 'h3', 'h2', 'h3', 'h2', 'h3'])
  })

  it('passes over a host that has just become silent', async () => {
    await silentFor('h1', placementSilentAfterMs + 500)
    assert.deepEqual((await hostsOf({ replicas: 3, autostart: true })).toSorted(), ['h2', 'h2', 'h3', 'h3'])
    assert.equal(await volumeHost(64), 'h2')
  })

  it('uses such a host if no other has room, until it counts as silent', async () => {
    await silentFor('h1', placementSilentAfterMs + 500)
    const large = { memoryMb: 3_000, autostart: true }
    assert.deepEqual(await hostsOf({ ...large, replicas: 2 }), ['h2', 'h3', 'h1'])
    await database.db.deleteFrom('instances').execute()
    for (const id of ['h2', 'h3']) await silentFor(id, placementSilentAfterMs + 500)
    assert.deepEqual(await hostsOf({ replicas: 2 }), ['h1', 'h2', 'h3'])
    await silentFor('h1', nodeSilentAfterMs + 500)
    assert.deepEqual((await hostsOf({ replicas: 1 })).toSorted(), ['h2', 'h3'])
  })

  it('spreads volumes, and puts an instance where its volume is', async () => {
    const hosts = []
    for (let count = 0; count < 3; count++) hosts.push(await volumeHost(64))
    assert.deepEqual(hosts, ['h1', 'h2', 'h3'])
    const db = await volumeOn('h3')
    const [instance] = await create({ volume: { existing: { uuid: db.uuid }, mount } })
    assert.equal(instance?.nodeId, 'h3')
    assert.deepEqual(instance?.placement, { kind: 'volume', volume: db.name })
  })

  it('records why an instance is where it is', async () => {
    const [first] = await create({ memoryMb: 512 })
    const room = { promisedMemoryMb: 0, memoryMb, promisedVcpus: 0, cpus: 4 }
    assert.deepEqual(first?.placement, { kind: 'room', hosts: 3, room })
    const [one, other] = await create({ replicas: 1, service: service('web') })
    assert.deepEqual(one?.placement, { kind: 'room', hosts: 3, room })
    assert.deepEqual(other?.placement, { kind: 'spread', hosts: 3, alike: 0, room })
    const all = await create({ memoryMb: 3_400, autostart: true, replicas: 2 })
    assert.deepEqual(
      all.map(({ placement }) => placement?.kind),
      ['room', 'room', 'fits'],
    )
    for (const id of ['h1', 'h2']) await silentFor(id, placementSilentAfterMs + 500)
    assert.deepEqual((await create())[0]?.placement, { kind: 'heard', hosts: 3 })
    for (const id of ['h1', 'h2']) await silentFor(id, nodeSilentAfterMs + 500)
    assert.deepEqual((await create())[0]?.placement, { kind: 'only' })
  })

  it('has nothing to explain if there is no other host at all', async () => {
    await database.db.deleteFrom('nodes').where('id', '<>', 'h1').execute()
    assert.equal((await create())[0]?.placement, null)
  })
})
