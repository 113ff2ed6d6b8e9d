import { strict as assert } from 'node:assert'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { openInstanceWatch } from '../../../src/db/instance/watch.ts'
import type { InstanceWatch } from '../../../src/db/instance/watch.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import { findByUuids, markDeleted } from '../../../src/db/instance/instances.ts'
import { recordInstance } from '../../../src/db/instance/projection.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

const longMs = 20_000

type Instances = ReadonlyMap<string, InstanceRow>

describe('waiting for instances', () => {
  let own: TestDatabase
  let database: Database
  let watch: InstanceWatch
  let user: UserRecord
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'watch-test' })
    await addNode(database)
    user = await addUser(database, { name: 'ann', hard: { instances: 1_000 } })
    watch = await openInstanceWatch(database)
  })
  after(async () => {
    await watch.close()
    await database.close()
    await own.drop()
  })

  async function addInstances(count: number): Promise<readonly string[]> {
    const deps = { database, secretBox: testSecretBox }
    const outcome = await insertInstances(deps, wantedInstance(user, { replicas: count - 1 }))
    assert.ok(outcome.ok)
    return outcome.instances.map((row) => row.uuid)
  }
  const record = (uuid: string, revision: number, state: InstanceState) =>
    recordInstance(
      database,
      { uuid, revision },
      { state, boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: 0 },
    )
  const waitFor = (
    uuids: readonly string[],
    isSatisfied: (instances: Instances) => boolean,
    options: Parameters<InstanceWatch['waitForRead']>[2],
  ) => {
    const read = async () => new Map((await findByUuids(database, uuids)).map((row) => [row.uuid, row]))
    return watch.waitForRead(uuids, { read, isSatisfied }, options)
  }
  const allRun = (instances: Instances) =>
    [...instances.values()].every((row) => row.state === InstanceState.Running)

  /**
   * Begins a wait. `asked` resolves once the wait has read for the first time, `outcome` when the wait ends.
   */
  function startWaiting(uuids: readonly string[], isSatisfied: (instances: Instances) => boolean) {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const outcome = waitFor(
      uuids,
      (instances) => {
        const answer = isSatisfied(instances)
        resolve()
        return answer
      },
      { timeoutMs: longMs },
    )
    return { asked, outcome }
  }

  const cutListener = () =>
    readRows<{ cut: boolean }>(database, {
      text: `select pg_terminate_backend(pid) as cut from pg_stat_activity where application_name = 'watch-test watch'`,
    })

  it('ends at once if there is nothing to wait for', async () => {
    const uuids = await addInstances(1)
    await record(uuids[0]!, 1, InstanceState.Running)
    assert.equal((await waitFor(uuids, allRun, { timeoutMs: 0 })).satisfied, true)
  })

  it('ends when the last of them has reached its state', async () => {
    const uuids = await addInstances(3)
    const { asked, outcome } = startWaiting(uuids, allRun)
    await asked
    for (const uuid of uuids) await record(uuid, 1, InstanceState.Running)
    const { satisfied, seen: instances } = await outcome
    assert.equal(satisfied, true)
    assert.deepEqual([...instances.keys()], uuids)
  })

  it('sees a deletion as the absence of the instance', async () => {
    const [uuid] = await addInstances(1)
    const { asked, outcome } = startWaiting([uuid!], (instances) => !instances.has(uuid!))
    await asked
    await markDeleted(database, user.uuid, uuid!)
    assert.equal((await outcome).satisfied, true)
  })

  it('misses nothing that happens while it reads', async () => {
    const uuids = await addInstances(50)
    const waits = uuids.map((uuid) => waitFor([uuid], allRun, { timeoutMs: longMs }))
    await Promise.all(uuids.map((uuid) => record(uuid, 1, InstanceState.Running)))
    for (const outcome of await Promise.all(waits)) assert.equal(outcome.satisfied, true)
  })

  it('tells the last known states when the time is up', async () => {
    const [uuid] = await addInstances(1)
    const { satisfied, seen: instances } = await waitFor([uuid!], allRun, { timeoutMs: 20 })
    assert.equal(satisfied, false)
    assert.equal(instances.get(uuid!)?.state, InstanceState.Stopped)
  })

  it('ends when its caller gives up', async () => {
    const [uuid] = await addInstances(1)
    const caller = new AbortController()
    const outcome = waitFor([uuid!], allRun, { timeoutMs: longMs, signal: caller.signal })
    caller.abort()
    assert.equal((await outcome).satisfied, false)
    const later = await waitFor([uuid!], allRun, { timeoutMs: longMs, signal: caller.signal })
    assert.equal(later.satisfied, false)
  })

  it('reads again after its connection was lost, so that no change of that time is missed', async () => {
    const [uuid] = await addInstances(1)
    const { asked, outcome } = startWaiting([uuid!], allRun)
    await asked
    assert.deepEqual(await cutListener(), [{ cut: true }])
    await record(uuid!, 1, InstanceState.Running)
    assert.equal((await outcome).satisfied, true)
  })

  it('is woken by changes again after a lost connection', async () => {
    const [first, second] = await addInstances(2)
    const lost = startWaiting([first!], allRun)
    await lost.asked
    await cutListener()
    await record(first!, 1, InstanceState.Running)
    await lost.outcome
    const { asked, outcome } = startWaiting([second!], allRun)
    await asked
    await record(second!, 1, InstanceState.Running)
    assert.equal((await outcome).satisfied, true)
  })

  it('uses one connection, however many wait', async () => {
    const uuids = await addInstances(20)
    const waiting = uuids.map((uuid) => startWaiting([uuid], allRun))
    await Promise.all(waiting.map(({ asked }) => asked))
    const [listening] = await readRows<{ count: number }>(database, {
      text: `select count(*)::int as count from pg_stat_activity where application_name = 'watch-test watch'`,
    })
    assert.equal(listening?.count, 1)
    for (const uuid of uuids) await record(uuid, 1, InstanceState.Running)
    await Promise.all(waiting.map(({ outcome }) => outcome))
  })
})
