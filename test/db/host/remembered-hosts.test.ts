import { strict as assert } from 'node:assert'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { readCandidates } from '../../../src/db/instance/placement-candidates.ts'
import { RememberedHosts } from '../../../src/db/instance/remembered-hosts.ts'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

const memoryMb = 128
const hosts = ['h1', 'h2', 'h3']

describe('remembered hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let nowMs: number
  let remembered: RememberedHosts
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'remembered hosts' })
    user = await addUser(database, { name: 'ann', hard: { liveMemoryMb: 1_000_000 } })
    nowMs = 1_000
    remembered = new RememberedHosts(() => nowMs)
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const addHosts = async (fit: number) => {
    for (const id of hosts) await addNode(database, { id, memoryMb: fit * footprintMb(memoryMb) })
  }
  const outcomeOf = (wanted: Partial<NewInstances>, memory?: RememberedHosts) =>
    insertInstances(
      { database, secretBox: testSecretBox, ...(memory && { remembered: memory }) },
      wantedInstance(user, { memoryMb, autostart: true, ...wanted }),
    )
  const hostOf = async (wanted: Partial<NewInstances> = {}, memory?: RememberedHosts) => {
    const outcome = await outcomeOf(wanted, memory)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances[0]?.nodeId
  }
  /** Places as this process does, which remembers. Others do not know what it remembers. */
  const hostHere = (wanted: Partial<NewInstances> = {}) => hostOf(wanted, remembered)
  const hostElsewhere = (wanted: Partial<NewInstances> = {}) => hostOf(wanted)
  const service = {
    made: { name: 'web', ports: [], domains: [], softLimit: 1, hardLimit: 1, metroDomain: 't' },
  }

  it('are good for a moment; then one caller reads them, and the others do not wait for it', async () => {
    await addHosts(10)
    assert.equal(remembered.recall(hosts), undefined)
    remembered.remember(await readCandidates(database.db, hosts, { group: undefined, locked: false }))
    const ids = () => remembered.recall(hosts)?.map(({ id }) => id)
    nowMs += 199
    assert.deepEqual(ids(), hosts)
    assert.equal(remembered.recall([...hosts, 'h4']), undefined, 'a host that came is not known')
    nowMs += 1
    assert.equal(ids(), undefined)
    assert.deepEqual(ids(), hosts)
    nowMs += 199
    assert.deepEqual(ids(), hosts)
    nowMs += 1
    assert.equal(ids(), undefined)
    assert.equal(ids(), undefined)
  })

  it('are chosen in the same order as hosts that are read for each placement', async () => {
    await addHosts(10)
    const chosen = []
    for (let count = 0; count < 6; count++) chosen.push(await hostHere())
    assert.deepEqual(chosen, [...hosts, ...hosts])
    const three = await outcomeOf({ replicas: 2 }, remembered)
    assert.ok(three.ok)
    assert.deepEqual(three.instances.map(({ nodeId }) => nodeId).toSorted(), hosts)
    assert.deepEqual(await hostHere({ memoryMb: 512 }), 'h1')
    assert.deepEqual(await hostHere(), 'h2')
  })

  it('lack what others placed since, until they are read again', async () => {
    await addHosts(10)
    assert.equal(await hostHere(), 'h1')
    assert.equal(await hostElsewhere({ memoryMb: 512 }), 'h2')
    assert.equal(await hostHere(), 'h2')
    nowMs += 200
    assert.equal(await hostHere(), 'h3')
  })

  it('get nothing that does not fit there any more, and refuse nothing that fits by now', async () => {
    await addHosts(2)
    assert.equal(await hostHere(), 'h1')
    assert.equal(await hostElsewhere(), 'h2')
    assert.equal(await hostElsewhere(), 'h3')
    assert.equal(await hostElsewhere(), 'h1')
    assert.equal(await hostElsewhere(), 'h2')
    assert.equal(await hostHere(), 'h3')
    const refused = await outcomeOf({}, remembered)
    assert.equal(refused.ok, false)
    await database.db.deleteFrom('instances').where('nodeId', '=', 'h2').execute()
    assert.equal(await hostHere(), 'h2')
  })

  it('get nothing after they were cordoned', async () => {
    await addHosts(10)
    assert.equal(await hostHere(), 'h1')
    await setUse(database, 'h2', HostUse.Cordoned)
    assert.equal(await hostHere(), 'h3')
  })

  it('spread a service beside what others placed of it', async () => {
    await addHosts(10)
    assert.equal(await hostHere({ service }), 'h1')
    const existing = { existing: { name: 'web' } }
    assert.equal(await hostElsewhere({ service: existing }), 'h2')
    assert.equal(await hostHere({ service: existing, memoryMb: 512 }), 'h3')
  })
})
