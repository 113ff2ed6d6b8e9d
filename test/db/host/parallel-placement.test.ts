import { strict as assert } from 'node:assert'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { insertInstances, insertInstancesWithin } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { RememberedHosts } from '../../../src/db/instance/remembered-hosts.ts'
import { createVolume } from '../../../src/db/volume/create.ts'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import { addNode, addUser, hearNode, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

const memoryMb = 128
const hosts = ['h1', 'h2', 'h3', 'h4', 'h5']
const volumeMb = 100

describe('placements at the same time', () => {
  let own: TestDatabase
  let database: Database
  let users: readonly UserRecord[]
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'parallel placements', poolSize: 20 })
    const hard = { instances: 1_000, liveInstances: 1_000, liveVcpus: 1_000, liveMemoryMb: 1_000_000 }
    users = await Promise.all(
      Array.from('abcdefghij', (letter) => addUser(database, { name: `user-${letter}`, hard })),
    )
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  let remembered: RememberedHosts | undefined
  beforeEach(() => {
    remembered = undefined
  })
  const deps = () => ({ database, secretBox: testSecretBox, ...(remembered && { remembered }) })
  const create = (user: number, wanted: Partial<NewInstances> = {}) =>
    insertInstances(deps(), wantedInstance(users[user % users.length]!, { autostart: true, ...wanted }))
  const addHosts = async (fit: number) => {
    for (const id of hosts) await addNode(database, { id, memoryMb: fit * footprintMb(memoryMb), volumeMb })
  }
  const onHosts = () =>
    readRows<{ readonly id: string; readonly instances: number; readonly volumes: number }>(database, {
      text: `select id, (select count(*)::int from instances where node_id = nodes.id) as instances,
          (select coalesce(sum(size_mb), 0)::int from volumes where node_id = nodes.id) as volumes
        from nodes order by id`,
    })

  it('fill every host, and promise no room twice', fillEveryHost)
  it('fill every host, and promise no room twice, if hosts are remembered', async () => {
    remembered = new RememberedHosts()
    await fillEveryHost()
  })
  async function fillEveryHost(): Promise<void> {
    const fit = 4
    await addHosts(fit)
    // Some ask for two at once, so that placements hold one host or two.
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => create(index, { replicas: index % 5 === 0 ? 1 : 0 })),
    )
    const made = outcomes.flatMap((outcome) => (outcome.ok ? outcome.instances : []))
    const refusals = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal.kind]))
    assert.deepEqual([...new Set(refusals)], ['no-memory-room'])
    const seen = await onHosts()
    for (const host of seen) assert.ok(host.instances <= fit, JSON.stringify(seen))
    assert.equal(made.length, fit * hosts.length)
    assert.equal(new Set(made.map(({ privateIp }) => privateIp)).size, made.length)
  }

  it('promise no room for volumes twice', async () => {
    await addHosts(100)
    const sizeMb = 30
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        index % 2 === 0
          ? createVolume({ database }, { userUuid: users[index % users.length]!.uuid, sizeMb })
          : create(index, { volume: { made: { sizeMb }, mount: { at: '/data', readonly: false } } }),
      ),
    )
    assert.equal(outcomes.filter(({ ok }) => ok).length, 3 * hosts.length)
    for (const host of await onHosts()) assert.ok(host.volumes <= volumeMb, JSON.stringify(host))
  })

  it('neither wait for each other on different hosts, nor make heartbeats of other hosts wait', async () => {
    await addHosts(100)
    await database.db.transaction().execute(async (db) => {
      const [held] = await insertInstancesWithin(db, deps(), wantedInstance(users[0]!, { autostart: true }))
      assert.equal(held?.nodeId, 'h1')
      const beside = await create(1)
      assert.ok(beside.ok)
      assert.equal(beside.instances[0]?.nodeId, 'h2')
      for (const id of ['h2', 'h3', 'h4', 'h5']) await hearNode(database, { id })
    })
  })

  it('wait for the host that they prefer if others hold all hosts', async () => {
    await addHosts(100)
    const waiting = Promise.withResolvers<Awaited<ReturnType<typeof create>>>()
    await database.db.transaction().execute(async (db) => {
      await insertInstancesWithin(db, deps(), wantedInstance(users[0]!, { replicas: hosts.length - 1 }))
      create(1).then(waiting.resolve, waiting.reject)
      await untilOneWaits(database)
    })
    const outcome = await waiting.promise
    assert.ok(outcome.ok)
    // It was chosen before the other placement was there, and still has room.
    assert.equal(outcome.instances[0]?.nodeId, 'h1')
  })
})

async function untilOneWaits(database: Database): Promise<void> {
  for (;;) {
    const waiting = await readRows(database, {
      text: `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    })
    if (waiting.length > 0) return
  }
}
