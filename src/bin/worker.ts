import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { createControlActivities } from '../../activities/control-activities.ts'
import { createSweep } from '../control/sweep.ts'
import { startSweepLoop } from '../control/sweep-loop.ts'
import { openTemporalControl } from '../control/temporal-control.ts'
import { WorkerMetrics } from '../control/worker-metrics.ts'
import { openDatabase } from '../db/database.ts'
import { readInstalled } from '../launch/installed.ts'
import { readSettings } from './settings.ts'
import { ControlWorker } from './worker-temporal.ts'

/** Connections to PostgreSQL: writes of states are short, so a few carry hundreds per second. */
const poolSize = 10
/** Whatever still runs after this is repeated by the next worker. */
const stopLimitMs = 4_500

const settings = readSettings(process.env)
const log = pino({ level: settings.logLevel })
if (settings.databaseUrl === undefined) throw new Error('DATABASE_URL is not set')
const place = {
  address: settings.temporalAddress ?? '127.0.0.1:7233',
  namespace: settings.temporalNamespace,
}

const database = await openDatabase({ url: settings.databaseUrl, applicationName: 'roost-worker', poolSize })
const control = openTemporalControl(place)
const metrics = new WorkerMetrics()
const sdkMetricsAddress = `127.0.0.1:${await freePort()}`
const worker = new ControlWorker({
  place,
  activities: metrics.countActivities(createControlActivities({ database })),
  workflowBundle: installedBundle(),
  log,
  sdkMetricsAddress,
})
worker.start()
const sweeps = startSweepLoop(createSweep({ database, control: control.instances, nowMs: Date.now }), {
  onSwept(result) {
    metrics.swept(result)
    if (result.started + result.deletesSent > 0)
      log.info({ ...result }, 'the sweep mended what was left behind')
    if (result.failure !== undefined) log.warn({ err: result.failure }, 'the sweep reached no workflow')
  },
  onFailure: (error) => log.warn({ err: error }, 'the sweep could not read the database'),
})

const health = createServer((request, response) => {
  void answer(request.url ?? '/').then(
    ({ status, body }) =>
      response.writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4' }).end(body),
    (error: unknown) => response.writeHead(503).end(`${String(error)}\n`),
  )
})
health.listen(settings.workerMetricsPort, '127.0.0.1')
await once(health, 'listening')
log.info({ port: settings.workerMetricsPort }, 'the worker runs')

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop())

async function answer(url: string): Promise<{ readonly status: number; readonly body: string }> {
  if (url === '/healthz') return { status: 200, body: 'ok\n' }
  if (url === '/readyz') return readiness()
  if (url !== '/metrics') return { status: 404, body: 'not here\n' }
  const sdk = await fetch(`http://${sdkMetricsAddress}/metrics`).then(
    (response) => response.text(),
    () => '',
  )
  return { status: 200, body: `${await metrics.text()}\n${sdk}` }
}

async function readiness(): Promise<{ readonly status: number; readonly body: string }> {
  if (!worker.polls) return { status: 503, body: 'Temporal can not be reached\n' }
  await database.check()
  return { status: 200, body: 'ok\n' }
}

function installedBundle(): string | undefined {
  try {
    return readInstalled().workflowBundle
  } catch (error) {
    log.warn({ err: error }, 'no workflow bundle from set-up; bundling now')
    return undefined
  }
}

async function freePort(): Promise<number> {
  const probe = createTcpServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

async function stop(): Promise<void> {
  setTimeout(() => process.exit(0), stopLimitMs).unref()
  health.close()
  health.closeAllConnections()
  await Promise.all([worker.stop(), sweeps.stop()])
  await Promise.all([control.close(), database.close()])
  process.exit(0)
}
