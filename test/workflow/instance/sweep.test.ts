import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createControlActivities } from '../../../activities/control-activities.ts'
import type { InstanceControl } from '../../../src/control/instance-control.ts'
import { startSweepLoop } from '../../../src/control/sweep-loop.ts'
import { createSweep } from '../../../src/control/sweep.ts'
import type { SweepDeps, SweepResult } from '../../../src/control/sweep.ts'
import { sweptEntities } from '../../../src/control/swept-entity.ts'
import { openTemporalControl } from '../../../src/control/temporal-control.ts'
import type { TemporalControl } from '../../../src/control/temporal-control.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { FakeHosts } from '../../support/fake-host.ts'
import { FakeVolumeHosts } from '../../support/fake-volume-host.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { startRelay } from '../../support/relay.ts'
import type { Relay } from '../../support/relay.ts'
import { runWorkers, startDevServer } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { readRows } from '../../support/rows.ts'

const limitMs = 30_000
const hard = { instances: 500, liveInstances: 500, liveVcpus: 500, liveMemoryMb: 500_000 }

describe('the sweep', () => {
  let env: TestWorkflowEnvironment
  let own: TestDatabase
  let database: Database
  /** The sweep's own database and control, each over a connection that can be cut. */
  let far: { readonly database: Database; readonly control: TemporalControl }
  let ways: { readonly database: Relay; readonly temporal: Relay }
  let workers: RunningWorkers
  let userUuid: string
  const hosts = new FakeHosts()
  const volumeHosts = new FakeVolumeHosts()

  before(async () => {
    env = await startDevServer()
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'sweep test' })
    const address = new URL(`tcp://${env.connection.options.address}`)
    const url = new URL(own.url)
    ways = { database: await startRelay(placeOf(url)), temporal: await startRelay(placeOf(address)) }
    url.host = `127.0.0.1:${ways.database.port}`
    far = {
      database: await openDatabase({ url: url.href, applicationName: 'the sweep' }),
      control: openTemporalControl({
        address: `127.0.0.1:${ways.temporal.port}`,
        namespace: env.namespace ?? 'default',
      }),
    }
    workers = await runWorkers(env, {
      control: createControlActivities({ database }),
      hosts: { local: { ...hosts.activities, ...volumeHosts.activities } },
    })
    userUuid = (await addUser(database, { name: 'ann', hard })).uuid
  })
  // Each test begins with a heartbeat of the host. Otherwise the host would count as silent after long
  // tests.
  beforeEach(() => addNode(database))
  after(async () => {
    await workers.stop()
    await far.control.close()
    await far.database.close()
    await database.close()
    await ways.database.close()
    await ways.temporal.close()
    await own.drop()
    await env.teardown()
  })

  /** Inserts rows of instances without starting their workflows. */
  async function rows(replicas: number, wanted: Partial<NewInstances> = {}): Promise<readonly string[]> {
    const made = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance({ uuid: userUuid }, { replicas: replicas - 1, autostart: true, ...wanted }),
    )
    assert.ok(made.ok, JSON.stringify(made))
    return made.instances.map(({ uuid }) => uuid)
  }

  const newSweep = ({
    control = far.control.instances,
    ...deps
  }: Partial<SweepDeps> & { readonly control?: InstanceControl } = {}) =>
    createSweep({
      entities: sweptEntities(far.database, { ...far.control, instances: control }),
      nowMs: Date.now,
      // The times in a row are rounded, so a new row may seem to be from the future. It counts as old enough
      // too.
      olderThanMs: -1_000,
      ...deps,
    })

  interface Row {
    readonly uuid: string
    readonly state: string
    readonly startCount: number
    readonly known: boolean
  }

  /** Reads the rows, also those that are marked as deleted. */
  const read = (uuids: readonly string[]): Promise<Row[]> =>
    readRows<Row>(database, {
      text: `select uuid, state, start_count as "startCount", workflow_started_at is not null as known
             from instances where uuid = any($1::uuid[])`,
      values: [uuids],
    })

  const volumeRows = (uuid: string): Promise<{ readonly phase: string }[]> =>
    readRows(database, { text: 'select phase from volumes where uuid = $1', values: [uuid] })

  const running = (uuids: readonly string[]) =>
    until(
      'all run',
      async () => {
        const found = await read(uuids)
        return found.length === uuids.length && found.every(({ state }) => state === 'running')
      },
      { limitMs },
    )
  const gone = (uuids: readonly string[]) =>
    until('the rows are gone', async () => (await read(uuids)).length === 0, { limitMs })

  /**
   * Returns a control that calls `before` before each start of a workflow. `before` may count the starts or
   * make them fail.
   */
  function watched(before: (uuid: string) => Promise<void>): InstanceControl {
    const { instances } = far.control
    return {
      ...instances,
      ensureStarted: async (settings) => {
        await before(settings.instanceUuid)
        await instances.ensureStarted(settings)
      },
    }
  }

  it('starts the workflow that nobody started, once', async () => {
    const uuids = await rows(1)
    const sweep = newSweep()
    assert.deepEqual(await sweep(), { started: 1, deletesSent: 0, failure: undefined })
    await running(uuids)
    assert.deepEqual(await sweep(), { started: 0, deletesSent: 0, failure: undefined })
    assert.deepEqual(hosts.of(uuids[0]!).calls, [{ call: 'start', boot: 1 }])
  })

  it('leaves rows that are younger than its bound to their creator', async () => {
    const uuids = await rows(1)
    assert.equal((await newSweep({ olderThanMs: 60_000 })()).started, 0)
    assert.deepEqual(
      (await read(uuids)).map(({ known }) => known),
      [false],
    )
    await newSweep()()
    await running(uuids)
  })

  it('repeats a deletion that the workflow did not hear of: the host is cleaned, the row is deleted', async () => {
    const uuids = await rows(1)
    const sweep = newSweep()
    await sweep()
    await running(uuids)
    await markDeleted(database, userUuid, uuids[0]!)
    assert.equal((await sweep()).deletesSent, 1)
    await gone(uuids)
    assert.equal(hosts.of(uuids[0]!).calls.at(-1)?.call, 'remove')
    assert.equal((await sweep()).deletesSent, 0)
  })

  it('finishes the deletion of an instance that was never started', async () => {
    const uuids = await rows(1, { autostart: false })
    await markDeleted(database, userUuid, uuids[0]!)
    await newSweep()()
    await gone(uuids)
    assert.deepEqual(hosts.of(uuids[0]!).calls, [])
  })

  it('goes on after PostgreSQL was away', async () => {
    const uuids = await rows(1)
    ways.database.cut()
    const failed = Promise.withResolvers<void>()
    const results: SweepResult[] = []
    const loop = startSweepLoop(newSweep(), {
      onSwept: (result) => results.push(result),
      onFailure: () => failed.resolve(),
    })
    try {
      await failed.promise
      assert.deepEqual(results, [])
      ways.database.mend()
      await running(uuids)
    } finally {
      ways.database.mend()
      await loop.stop()
    }
  })

  it('gives up a round in which Temporal does not answer, and goes on when it does', async () => {
    const uuids = await rows(30)
    let calls = 0
    const control = watched(async () => void calls++)
    const sweep = newSweep({ control })
    ways.temporal.cut()
    try {
      const away = await sweep()
      assert.equal(away.started, 0)
      assert.ok(away.failure instanceof Error)
      assert.ok(calls > 0 && calls <= 8, `${calls} calls`)
      assert.ok((await read(uuids)).every(({ known }) => !known))
    } finally {
      ways.temporal.mend()
    }
    await until('everything is started', async () => (await sweep()).failure === undefined, { limitMs })
    await running(uuids)
  })

  it('takes a bounded number in one round, some at a time, the oldest first', async () => {
    const older = await rows(20)
    const younger = await rows(10)
    let atOnce = 0
    let most = 0
    const control: InstanceControl = {
      ...far.control.instances,
      async ensureStarted(settings) {
        most = Math.max(most, ++atOnce)
        await far.control.instances.ensureStarted(settings)
        atOnce--
      },
    }
    const sweep = newSweep({ control, batchSize: 20 })
    assert.equal((await sweep()).started, 20)
    assert.ok(most > 1 && most <= 8, `${most} at a time`)
    await running(older)
    assert.ok((await read(younger)).every(({ known }) => !known))
    assert.equal((await sweep()).started, 10)
    await running(younger)
  })

  it('goes on after an instance that can not be started, and reports it', async () => {
    const uuids = await rows(12)
    const broken = new Error('not this one')
    const control = watched(async (uuid) => {
      if (uuid === uuids[0]) throw broken
    })
    const result = await newSweep({ control })()
    assert.deepEqual([result.started, result.failure], [11, broken])
    await newSweep()()
    await running(uuids)
  })

  it('does the same for volumes: starts what nobody started, and finishes what was deleted', async () => {
    const uuid = randomUUID()
    await readRows(database, {
      text: `insert into volumes (uuid, user_uuid, node_id, name, size_mb, persistent)
             values ($1, $2, 'local', 'vol-swept', 8, true)`,
      values: [uuid, userUuid],
    })
    const phase = async () => (await volumeRows(uuid))[0]?.phase
    const sweep = newSweep()
    assert.deepEqual(await sweep(), { started: 1, deletesSent: 0, failure: undefined })
    await until('it is ready', async () => (await phase()) === 'ready', { limitMs })
    assert.deepEqual(await sweep(), { started: 0, deletesSent: 0, failure: undefined })
    await readRows(database, {
      text: 'update volumes set deleted_at = now() where uuid = $1',
      values: [uuid],
    })
    assert.equal((await sweep()).deletesSent, 1)
    await until('its row is gone', async () => (await volumeRows(uuid)).length === 0, { limitMs })
    assert.deepEqual(volumeHosts.of(uuid).calls, ['make', 'remove'])
  })

  it('does no harm beside another sweep: each instance is started once, and each deleted one goes', async () => {
    const deleted = await rows(8)
    await newSweep()()
    await running(deleted)
    for (const uuid of deleted) await markDeleted(database, userUuid, uuid)
    const fresh = await rows(8)
    const results = await Promise.all([newSweep()(), newSweep()(), newSweep()()])
    assert.deepEqual(
      results.map(({ failure }) => failure),
      [undefined, undefined, undefined],
    )
    await gone(deleted)
    await running(fresh)
    assert.ok((await read(fresh)).every(({ startCount }) => startCount === 1))
    for (const uuid of fresh) assert.deepEqual(hosts.of(uuid).calls, [{ call: 'start', boot: 1 }])
  })
})

function placeOf(url: URL): { readonly host: string; readonly port: number } {
  return { host: url.hostname === 'localhost' ? '127.0.0.1' : url.hostname, port: Number(url.port) }
}
