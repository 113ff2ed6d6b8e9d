import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Connection } from '@temporalio/client'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { startPartProcess } from '../../src/launch/parts/part-process.ts'
import { superuserUrl } from '../../src/launch/services/postgres-roles.ts'
import { postgresPart } from '../../src/launch/services/postgres.ts'
import { untilSucceeds } from '../../src/launch/readiness.ts'
import { freePort } from '../../src/primitives/free-ports.ts'

/** Temporal's production server on a PostgreSQL of its own, as `docker-compose.yml` configures it. */
export interface ProductionTemporal {
  readonly address: string
  readonly pids: { readonly temporal: number; readonly postgres: number }
  stop(): Promise<void>
}

const checkout = path.resolve(import.meta.dirname, '../..')
const configDirectory = path.join(checkout, 'temporal-config')
/** A run is alone in its network namespace, so any block of ports is free. */
const portBase = 21_000
const startLimitMs = 60_000
const stopLimitMs = 20_000
const connectTimeoutMs = 2_000

/** Starts both. Unlike those of tests, this PostgreSQL flushes its log to the disk at every commit. */
export async function startProductionTemporal(): Promise<ProductionTemporal> {
  const temporary = mkdtempSync(path.join(tmpdir(), 'roost-bench-temporal-'))
  const embedded = {
    directory: path.join(temporary, 'data'),
    port: await freePort(),
    password: 'roost',
    applicationPassword: 'of no use here',
  }
  const part = await postgresPart(embedded, async () => {})
  const place = { runDirectory: temporary, environment: {}, onLine: () => undefined }
  const postgres = await startPartProcess(part, place)
  await part.ready(AbortSignal.timeout(startLimitMs))
  const at = new URL(superuserUrl(embedded, 'postgres'))
  const installed = readInstalled()
  const env = {
    ...process.env,
    POSTGRES_HOST: at.hostname,
    POSTGRES_PORT: at.port,
    POSTGRES_USER: at.username,
    POSTGRES_PASSWORD: at.password,
    TEMPORAL_SQL_TOOL: requireInstalled(installed, 'temporalSqlTool'),
    TEMPORAL_SCHEMA_DIR: requireInstalled(installed, 'temporalSchema'),
    TEMPORAL_CONFIG_DIR: configDirectory,
    TEMPORAL_PORT_BASE: String(portBase),
  }
  await promisify(execFile)(path.join(configDirectory, 'setup-schema.sh'), { env })
  const args = ['--root', checkout, '--config', 'temporal-config', '--env', 'production', '--allow-no-auth']
  const server = spawn(requireInstalled(installed, 'temporalServer'), [...args, 'start'], {
    env,
    stdio: 'ignore',
  })
  const address = `127.0.0.1:${portBase + 3}`
  await untilSucceeds(() => checkServer(address), AbortSignal.timeout(startLimitMs))
  return {
    address,
    pids: { temporal: server.pid ?? 0, postgres: pidOf(temporary, part.name) },
    async stop() {
      server.kill('SIGTERM')
      const late = setTimeout(() => server.kill('SIGKILL'), stopLimitMs)
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      clearTimeout(late)
      await postgres.stop(stopLimitMs)
      rmSync(temporary, { recursive: true, force: true })
    },
  }
}

function pidOf(runDirectory: string, part: string): number {
  const text = readFileSync(path.join(runDirectory, `${part}.json`), 'utf8')
  return (JSON.parse(text) as { readonly pid: number }).pid
}

async function checkServer(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: connectTimeoutMs })
  try {
    await connection.workflowService.getSystemInfo({})
  } finally {
    await connection.close()
  }
}
