import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from '@temporalio/client'
import { openTemporalControl } from '../../../src/control/temporal-control.ts'
import type { TemporalControl } from '../../../src/control/temporal-control.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { freePort } from '../../../src/primitives/free-ports.ts'
import { autoscaleWorkflowId } from '../../../workflows/autoscale/messages.ts'
import { addNode } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { arrives, newNamespace, openCrashStage, repeatedly } from '../crash-stage.ts'
import type { CrashStage } from '../crash-stage.ts'
import { insertService, secretKey } from './crash-scene.ts'

const program = path.resolve(import.meta.dirname, '../../../src/bin/worker.ts')
/** Within this time after the death of a worker, another one watches its services. */
const takenOverMs = 15_000

describe('two workers', () => {
  let stage: CrashStage
  let own: TestDatabase
  let database: Database
  let namespace: string
  let control: TemporalControl
  const workers = new Map<number, ChildProcess>()
  before(async () => {
    stage = await openCrashStage('two-workers')
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'two workers', poolSize: 2 })
    namespace = await newNamespace(stage.env)
    control = openTemporalControl({ address: stage.env.address, namespace })
    await addNode(database)
    await writeFile(path.join(stage.directory, 'secret.key'), secretKey)
    await writeFile(path.join(stage.directory, 'gateway-token'), 'a token that nobody asks for')
  })
  after(async () => {
    for (const worker of workers.values()) await killed(worker)
    await control?.close()
    await database?.close()
    await own?.drop()
    await stage?.close()
  })

  async function startWorker(): Promise<void> {
    const port = await freePort()
    const worker = spawn(process.execPath, [program], {
      env: {
        ...process.env,
        DATABASE_URL: own.url,
        TEMPORAL_ADDRESS: stage.env.address,
        TEMPORAL_NAMESPACE: namespace,
        ROOST_DATA_DIR: stage.directory,
        ROOST_SECRET_KEY_FILE: path.join(stage.directory, 'secret.key'),
        ROOST_GATEWAY_TOKEN_FILE: path.join(stage.directory, 'gateway-token'),
        ROOST_WORKER_METRICS_PORT: String(port),
        ROOST_LOG_LEVEL: 'error',
      },
      stdio: 'inherit',
    })
    assert.ok(worker.pid)
    workers.set(worker.pid, worker)
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
    await until('the worker is ready', isReady, arrives)
  }

  async function killed(worker: ChildProcess): Promise<void> {
    if (worker.exitCode !== null || worker.signalCode !== null) return
    const gone = once(worker, 'exit')
    worker.kill('SIGKILL')
    await gone
  }

  /** The process that watches the service, and how often the watch was begun. */
  async function watchOf(serviceUuid: string): Promise<{ pid: number; attempt: number } | undefined> {
    const { workflow } = new Client({ connection: stage.env.connection, namespace })
    const { raw } = await workflow.getHandle(autoscaleWorkflowId(serviceUuid)).describe()
    const [pending] = raw.pendingActivities ?? []
    if (pending?.activityType?.name !== 'watchService' || Number(pending.state) !== 2) return undefined
    return { pid: Number.parseInt(pending.lastWorkerIdentity ?? ''), attempt: pending.attempt ?? 0 }
  }

  it('watch each other: the services of a killed one are watched again within 15 s, those of the other go on', async () => {
    await startWorker()
    await startWorker()
    const { settings } = await insertService(database)
    const { serviceUuid } = settings
    await repeatedly('it is configured', () => control.autoscales.configured(settings))
    const first = await until('it is watched', () => watchOf(serviceUuid), arrives)
    const heard = async () =>
      (await readRows<{ id: string }>(database, { text: 'select id from workers' })).map(({ id }) =>
        Number.parseInt(id),
      )
    assert.deepEqual(new Set(await heard()), new Set(workers.keys()))
    const other = [...workers.keys()].find((pid) => pid !== first.pid)

    await killed(workers.get(first.pid)!)
    const isTakenOver = async () => (await watchOf(serviceUuid))?.pid === other
    await until('the other one watches', isTakenOver, { limitMs: takenOverMs })
    const seen = await until('its look is seen', () => control.autoscales.seen(serviceUuid), arrives)
    assert.equal(seen.life.failures, 0)
    assert.deepEqual(await heard(), [other])

    // A worker that begins leaves the watches of a living one alone.
    const before = await watchOf(serviceUuid)
    await startWorker()
    await until('it is heard', async () => (await heard()).length === 2, arrives)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    assert.deepEqual(await watchOf(serviceUuid), before)
  })
})
