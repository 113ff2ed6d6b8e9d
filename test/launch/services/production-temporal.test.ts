import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { Connection } from '@temporalio/client'
import { settingsTable } from '../../../src/settings/settings.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { isPortFree } from '../../../src/launch/ports.ts'
import { untilSucceeds } from '../../../src/launch/readiness.ts'
import { startTestServer } from '../../support/embedded-postgres.ts'
import type { TestServer } from '../../support/embedded-postgres.ts'
import { mountedFiles, readCompose } from '../compose-file.ts'
import { itServesRoost } from './temporal-form.ts'

const run = promisify(execFile)
const checkout = path.resolve(import.meta.dirname, '../../..')
const configDirectory = path.join(checkout, 'temporal-config')
const startLimitMs = 60_000
const stopLimitMs = 20_000

describe("Temporal's production server on PostgreSQL, as docker-compose.yml configures it", function () {
  this.timeout(120_000)
  const installed = readInstalled()
  let postgres: TestServer
  let environment: NodeJS.ProcessEnv
  let server: ChildProcess
  let address: string
  let output = ''

  before(async () => {
    postgres = await startTestServer()
    const at = new URL(postgres.url)
    const portBase = await freePortBase()
    environment = {
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
    await setUpSchema()
    const args = ['--root', checkout, '--config', 'temporal-config', '--env', 'production']
    server = spawn(requireInstalled(installed, 'temporalServer'), [...args, '--allow-no-auth', 'start'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [server.stdout, server.stderr])
      stream?.on('data', (chunk) => (output += String(chunk)))
    address = `127.0.0.1:${portBase + 3}`
    await untilSucceeds(checkServer, AbortSignal.timeout(startLimitMs)).catch((cause: unknown) => {
      throw new Error(`the server did not start:\n${output.slice(-4_000)}`, { cause })
    })
  })

  after(async () => {
    server.kill('SIGTERM')
    const timer = setTimeout(() => server.kill('SIGKILL'), stopLimitMs)
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    clearTimeout(timer)
    await postgres.stop()
  })

  function setUpSchema() {
    return run(path.join(configDirectory, 'setup-schema.sh'), { env: environment })
  }

  async function checkServer(): Promise<void> {
    const connection = await Connection.connect({ address, connectTimeout: 2_000 })
    try {
      await connection.workflowService.getSystemInfo({})
    } finally {
      await connection.close()
    }
  }

  itServesRoost(() => ({ address }))

  it('sets its schema up again without a change', async () => {
    await setUpSchema()
  })

  it('takes the dynamic configuration without an unknown key or a wrong type', async () => {
    const program = requireInstalled(installed, 'temporalServer')
    const file = path.join(configDirectory, 'dynamic-config.yaml')
    const { stdout, stderr } = await run(program, ['validate-dynamic-config', file])
    assert.doesNotMatch(stdout + stderr, /unregistered|error|warn/i)
  })

  it('is started by the compose file with the files that this test uses', () => {
    const { services } = readCompose()
    const mounted = mountedFiles('temporal').map((one) => path.basename(one.source))
    assert.deepEqual(mounted.toSorted(), ['dynamic-config.yaml', 'production.yaml'])
    assert.deepEqual(services['temporal']?.entrypoint?.slice(-4), [
      '--config',
      'temporal-config',
      '--env',
      'production',
    ])
  })
})

describe('docker-compose.yml', () => {
  it('mounts only files that exist', () => {
    const all = Object.keys(readCompose().services).flatMap(mountedFiles)
    assert.ok(all.length >= 3)
    for (const { source } of all) assert.ok(existsSync(path.join(checkout, source)), source)
  })

  it('pins every image', () => {
    for (const [name, service] of Object.entries(readCompose().services)) {
      assert.match(String(service.image), /:\d+\.\d+/, name)
    }
  })

  it('runs the server that the tests run', () => {
    assert.match(String(readCompose().services['temporal']?.image), /:1\.29\.1$/)
  })

  it('starts every part of Roost from a program that exists', () => {
    for (const name of ['prepare', 'api', 'worker', 'agent', 'gateway']) {
      const [program] = readCompose().services[name]?.command ?? []
      assert.ok(existsSync(path.join(checkout, String(program))), name)
    }
  })

  it('starts the parts only when everything is prepared', () => {
    for (const name of ['api', 'worker', 'agent', 'gateway', 'registry']) {
      const condition = readCompose().services[name]?.depends_on?.['prepare']?.condition
      assert.equal(condition, 'service_completed_successfully', name)
    }
  })

  it('gives hosts and the gateway neither the address of the database nor the keys', () => {
    const { services } = readCompose()
    for (const name of ['agent', 'gateway']) {
      const { environment, volumes } = services[name] ?? {}
      assert.equal(environment?.['DATABASE_URL'], undefined, name)
      assert.equal(
        (volumes ?? []).some((one) => one.startsWith('roost:')),
        false,
        name,
      )
    }
    assert.ok(services['api']?.environment?.['DATABASE_URL'])
  })

  it('gives the token for routes only to the gateway, in a volume that holds nothing else', () => {
    const { services } = readCompose()
    const knows = Object.entries(services).filter(([, { volumes = [] }]) =>
      volumes.some((one) => one.startsWith('gateway-token:')),
    )
    assert.deepEqual(
      knows.map(([name]) => name),
      ['prepare', 'api', 'worker', 'gateway'],
    )
    const [file, ...others] = ['prepare', 'api', 'gateway'].map(
      (name) => services[name]?.environment?.['ROOST_GATEWAY_TOKEN_FILE'],
    )
    assert.equal(file, '/gateway/token')
    assert.deepEqual(others, [file, file])
  })

  it('runs the gateway where instances are reached, and publishes its ports there', () => {
    const { services } = readCompose()
    assert.equal(services['gateway']?.network_mode, 'service:agent')
    assert.equal(services['gateway']?.environment?.['ROOST_GATEWAY_HOST'], '0.0.0.0')
    assert.deepEqual(services['agent']?.ports, ['80:80', '443:443'])
    const domains = ['api', 'gateway'].map((name) => services[name]?.environment?.['ROOST_METRO_DOMAIN'])
    assert.equal(domains[0], domains[1])
  })

  it('knows every setting that it sets', () => {
    const names = new Set(Object.values(settingsTable).map(({ name }) => name))
    for (const [service, { environment = {} }] of Object.entries(readCompose().services)) {
      const unknown = Object.keys(environment).filter(
        (name) => name.startsWith('ROOST_') && !names.has(name as never),
      )
      assert.deepEqual(unknown, [], service)
    }
  })

  it('waits only for services that it has', () => {
    const { services } = readCompose()
    for (const service of Object.values(services)) {
      const awaited = service.depends_on ?? {}
      const names = Array.isArray(awaited) ? awaited.map(String) : Object.keys(awaited)
      for (const name of names) assert.ok(services[name], name)
    }
  })
})

/** Finds a base for the ports of the server. All ports that the server uses at this base are free. */
async function freePortBase(): Promise<number> {
  for (let base = 21_000; base < 32_000; base += 50) {
    const used = [3, 4, 5, 9, 13, 14, 15, 19].map((offset) =>
      isPortFree({ host: '127.0.0.1', port: base + offset }),
    )
    if ((await Promise.all(used)).every(Boolean)) return base
  }
  throw new Error('no free block of ports')
}
