import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { pino } from 'pino'
import { KeptWorker } from '../../src/bin/kept-worker.ts'
import { openTemporalControl } from '../../src/control/temporal-control.ts'
import { readNamespaceConfig } from '../../src/launch/services/temporal-config.ts'
import { registerNamespace } from '../../src/launch/services/temporal-registration.ts'
import { readTemporalPlace } from '../../src/settings/part-settings.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { makeTestCertificate } from '../support/certificate-maker.ts'
import { GrpcClient } from '../support/grpc-client.ts'
import { inTime } from '../support/in-time.ts'
import { startRelayServer } from '../support/relay-server.ts'
import { startDevServer } from '../support/temporal.ts'
import { frontName, startTlsFront } from '../support/tls-front.ts'
import type { TlsFront } from '../support/tls-front.ts'
import { until } from '../support/until.ts'
import { HostActivities, runHostWorker, runWorkflowWorker, startHostWork, tokenKey } from './relay/world.ts'

const limitMs = 40_000
const namespace = 'default'
const hostId = 'host-a'

describe('a Temporal that takes TLS alone', () => {
  let env: TestWorkflowEnvironment
  let front: TlsFront
  let directory: string
  let given: Readonly<Record<string, string>>
  before(async () => {
    env = await startDevServer()
    front = await startTlsFront(env.address)
    directory = await mkdtemp(path.join(tmpdir(), 'roost-temporal-tls-'))
    const stranger = await makeTestCertificate({ subject: 'CN=a stranger', authority: true })
    given = {
      TEMPORAL_ADDRESS: front.address,
      TEMPORAL_NAMESPACE: namespace,
      TEMPORAL_TLS_SERVER_NAME: frontName,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: await file('ca.crt', front.authority.pem),
      TEMPORAL_TLS_CLIENT_CERT_PATH: await file('client.crt', front.client.pem),
      TEMPORAL_TLS_CLIENT_KEY_PATH: await file('client.key', front.client.pkey),
    }
    await file('stranger.crt', stranger.pem)
    await file('stranger.key', stranger.pkey)
  })
  after(async () => {
    await front?.close()
    await env?.teardown()
    await rm(directory, { recursive: true, force: true })
  })

  async function file(name: string, text: string): Promise<string> {
    const made = path.join(directory, name)
    await writeFile(made, text)
    return made
  }
  const at = (name: string): string => path.join(directory, name)
  const place = async (more: Readonly<Record<string, string>> = {}) =>
    await readTemporalPlace(readSettings({ ...given, ...more }))

  it('is reached by the calls of the API, by workers and by set-up, as the settings say', async () => {
    const server = await place()
    await registerNamespace({ ...server, namespace: 'roost', config: readNamespaceConfig() })
    const control = openTemporalControl(server)
    await control.check()
    await control.close()
    const log = pino({ level: 'silent' })
    const activities = { nothing: async () => await Promise.resolve() }
    const worker = new KeptWorker({ place: server, log, worker: { taskQueue: 'tls', activities } })
    worker.start()
    await until('the worker polls', () => worker.polls, { limitMs })
    await worker.stop()
    assert.ok(front.taken() >= 3)
  })

  it('is reached by the relay, so that hosts on other machines get their work', async () => {
    const workflows = await runWorkflowWorker(env.address, namespace)
    const relay = await startRelayServer(hostId, { temporal: await place(), tokenKey })
    const before = front.taken()
    const host = new HostActivities()
    const worker = await runHostWorker({ address: relay.address, namespace, hostId }, host.activities)
    const work = await startHostWork(env.client, hostId, { activity: 'complete', input: 'one' })
    assert.equal(await inTime('a result', work.result(), limitMs), 'done: one')
    assert.ok(front.taken() > before)
    await worker.stop()
    await relay.close()
    await workflows.stop()
  })

  for (const [what, wrong] of [
    ['its authority is another one', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: 'stranger.crt' }],
    [
      'a certificate is shown that it does not know',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: 'stranger.crt', TEMPORAL_TLS_CLIENT_KEY_PATH: 'stranger.key' },
    ],
  ] as const) {
    it(`is not used, also not by the relay, if ${what}`, async () => {
      const files = Object.entries(wrong).map(([name, value]) => [name, at(value)] as const)
      await isNotUsed(Object.fromEntries(files))
    })
  }

  it('is not used under a name that its certificate does not have', async () => {
    await isNotUsed({ TEMPORAL_TLS_SERVER_NAME: 'elsewhere.example.test' })
  })

  it('is not used without TLS', async () => {
    await isNotUsed({ TEMPORAL_TLS: 'false' }, 'start it, correct TEMPORAL_ADDRESS, or set TEMPORAL_TLS')
  })

  async function isNotUsed(
    more: Readonly<Record<string, string>>,
    todo = 'start it, or correct TEMPORAL_ADDRESS and the settings TEMPORAL_TLS_...',
  ): Promise<void> {
    const server = await place(more)
    await assert.rejects(
      registerNamespace({ ...server, config: readNamespaceConfig() }),
      ({ name, message }: Error) =>
        name === 'UnreachableTemporal' &&
        message.startsWith(`Temporal at ${front.address} can not be reached`) &&
        message.includes(todo),
    )
    const control = openTemporalControl(server)
    await assert.rejects(control.check())
    await control.close()
    const relay = await startRelayServer(hostId, { temporal: server, tokenKey })
    const raw = new GrpcClient(relay.address)
    assert.match((await inTime('an answer', raw.call('GetSystemInfo'), limitMs)).text, /can not be reached/)
    raw.close()
    await relay.close()
  }
})
