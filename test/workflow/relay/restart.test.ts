import assert from 'node:assert/strict'
import { Client, Connection } from '@temporalio/client'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { rememberedPorts } from '../../../src/launch/ports.ts'
import { devServerArgs } from '../../../src/launch/services/temporal.ts'
import { readNamespaceConfig } from '../../../src/launch/services/temporal-config.ts'
import { registerNamespace } from '../../../src/launch/services/temporal-registration.ts'
import { inTime } from '../../support/in-time.ts'
import { until } from '../../support/until.ts'
import { GrpcClient } from '../../support/grpc-client.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import type { RelayServer } from '../../support/relay-server.ts'
import { HostActivities, runHostWorker, runWorkflowWorker, startHostWork, tokenKey } from './world.ts'

const hostId = 'host-a'
const namespace = 'roost'
const limitMs = 40_000
const unavailable = 14

describe('the relay, when Temporal is killed and comes back', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-relay-'))
  let args: readonly string[]
  let address: string
  let server: ChildProcess
  let relay: RelayServer

  before(async () => {
    const { port, ui } = await rememberedPorts(path.join(directory, 'ports.json'), ['port', 'ui'])
    address = `127.0.0.1:${port}`
    const databaseFile = path.join(directory, 'temporal.db')
    const program = requireInstalled(readInstalled(), 'temporalCli')
    args = [program, ...devServerArgs({ program, databaseFile, port, uiPort: ui, namespace })]
    relay = await startRelayServer(hostId, { temporal: { address, namespace }, tokenKey })
    await startServer()
    await registerNamespace({ address, namespace, config: readNamespaceConfig() })
  })

  after(async () => {
    await relay.close()
    await killServer()
    rmSync(directory, { recursive: true, force: true })
  })

  async function startServer(): Promise<void> {
    const [program = '', ...rest] = args
    const env = { ...process.env, TEMPORAL_DISABLE_CONFIG_FILE: 'true' }
    server = spawn(program, rest, { stdio: 'ignore', env })
    const isUp = async (): Promise<boolean> =>
      await Connection.connect({ address, connectTimeout: 1_000 }).then(
        async (connection) => (await connection.close(), true),
        () => false,
      )
    await until('Temporal answers', isUp, { limitMs })
  }

  async function killServer(): Promise<void> {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }

  it('tells the host to try again in the meantime, and then goes on with the same activity', async () => {
    const workflows = await runWorkflowWorker(address, namespace)
    const connection = await Connection.connect({ address })
    const client = new Client({ connection, namespace })
    const host = new HostActivities()
    const worker = await runHostWorker({ address: relay.address, namespace, hostId }, host.activities)
    const before = await startHostWork(client, hostId, { activity: 'complete', input: 'before' })
    assert.equal(await inTime('a result', before.result(), limitMs), 'done: before')
    const during = await startHostWork(client, hostId, { activity: 'wait', input: 'during' })
    await until('the activity runs', () => host.begun.includes('during'), { limitMs })

    await killServer()
    const raw = new GrpcClient(relay.address)
    const answer = await inTime('an answer without Temporal', raw.call('GetSystemInfo'), limitMs)
    assert.equal(answer.status, unavailable)
    assert.match(answer.text, /try again/)
    await startServer()
    assert.equal((await inTime('an answer', raw.call('GetSystemInfo'), limitMs)).status, 0)
    raw.close()

    host.release('during')
    assert.equal(await inTime('a result', during.result(), limitMs), 'released: during')
    const after = await startHostWork(client, hostId, { activity: 'complete', input: 'after' })
    assert.equal(await inTime('a result', after.result(), limitMs), 'done: after')
    assert.deepEqual(host.begun, ['before', 'during', 'after'])
    assert.deepEqual(host.cancelled, [])
    await worker.stop()
    await workflows.stop()
    await connection.close()
  })
})
