import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { HostRole } from '../../../src/domain/host/role.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import { testAgentSecret } from '../../support/accounts.ts'
import { testGatewayToken, testMetroDomain } from '../../support/api-server.ts'
import { identityOf } from '../../support/part-identities.ts'
import { exchange, requestText, startRemoteApi } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'
import { readRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const routes = '/internal/gateway/routes'
const renewal = '/internal/gateway/certificate'
/** A removed gateway is cut off within a second. The rest is for a busy machine. */
const cutLimitMs = 5_000

describe('the gateway of a machine that joined', () => {
  let remote: RemoteApi
  /** What agent and gateway of the machine with the role show. Each has a key of its own. */
  let agent: PartIdentity
  let gateway: PartIdentity
  /** A machine without the role, with the certificate that it would like to have. */
  let plain: PartIdentity
  let pretender: PartIdentity
  beforeEach(async () => {
    remote = await startRemoteApi()
    agent = await remote.joined('h2', [HostRole.Gateway])
    gateway = await remote.partOf('h2', HostRole.Gateway)
    plain = await remote.joined('h3')
    pretender = await remote.partOf('h3', HostRole.Gateway)
  })
  afterEach(() => remote.close())

  const named = async (part: PlatformPart, id: string, { key }: PartIdentity) =>
    await identityOf(remote.authority, { part, id }, { key })

  const ask = async (line: string, identity: PartIdentity, headers: readonly string[] = []) =>
    await exchange(await remote.connect(identity), requestText(line, { headers }))

  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])

  /** Opens the feed of routes, and resolves once its first lines are there. */
  const follow = async (identity: PartIdentity) => {
    const socket = await remote.connect(identity)
    socket.write(`GET ${routes} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const [first] = (await once(socket, 'data')) as [Buffer]
    return { socket, first: first.toString('latin1') }
  }

  it('is told the routes, and nothing that is for its host', async () => {
    const { socket, first } = await follow(gateway)
    assert.match(first, /^HTTP\/1\.1 200 /)
    socket.destroy()
    const lines = [
      'PUT /internal/nodes/h2',
      'GET /internal/nodes/h2/instances',
      'POST /internal/nodes/h2/certificate',
      'GET /internal/nodes/h3/instances',
      'POST /internal/parts/certificate',
      'PUT /internal/gateway/metro-certificate',
      `POST ${routes}`,
      `GET ${routes}/`,
      'GET /v2/',
      'GET /v1/hosts',
      'GET /metrics',
      'GET /',
    ]
    const secrets = [`Authorization: Bearer ${testAgentSecret('h2')}`]
    for (const line of lines) {
      const answer = await ask(line, gateway, secrets)
      assert.equal(statusOf(answer), 403, `${line}: ${answer}`)
      assert.match(answer, /the gateway of host 'h2' may not ask for/, line)
    }
  })

  it('is let in by its own certificate alone, and only on a machine with the role', async () => {
    for (const path of [routes, renewal]) {
      const method = path === routes ? 'GET' : 'POST'
      for (const identity of [agent, plain])
        assert.equal(statusOf(await ask(`${method} ${path}`, identity)), 403, path)
      assert.equal(statusOf(await ask(`${method} ${path}`, pretender)), 401, path)
      const stranger = await identityOf(remote.authority, { part: PlatformPart.Gateway, id: 'h2' })
      assert.equal(statusOf(await ask(`${method} ${path}`, stranger)), 401, 'with another key')
      const ofAgent = await named(PlatformPart.Gateway, 'h2', agent)
      assert.equal(statusOf(await ask(`${method} ${path}`, ofAgent)), 401, 'with the key of its agent')
      const asAgent = await named(PlatformPart.Agent, 'h2', gateway)
      assert.equal(statusOf(await ask('GET /internal/nodes/h2/instances', asAgent)), 401, 'the other way')
    }
    for (const part of [PlatformPart.Worker, PlatformPart.Api])
      assert.equal(statusOf(await ask(`GET ${routes}`, await named(part, 'h2', agent))), 401, part)
  })

  it('gets its next certificate for the key that it has', async () => {
    const answer = await ask(`POST ${renewal}`, gateway)
    const { certificate } = JSON.parse(/\{.*\}/.exec(answer)![0])
    assert.notEqual(certificate, gateway.certificate)
    const { socket, first } = await follow({ ...gateway, certificate })
    assert.match(first, /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('is told what all gateways have in common', async () => {
    const answer = await ask('GET /internal/gateway/settings', gateway)
    assert.deepEqual(JSON.parse(/\{.*\}/.exec(answer)![0]), {
      metroDomain: testMetroDomain,
      portOffset: 0,
      registryBounded: false,
    })
    for (const identity of [agent, plain])
      assert.equal(statusOf(await ask('GET /internal/gateway/settings', identity)), 403)
  })

  it('is told where it reaches agents that listen on the loopback of the first machine', async () => {
    await readRows(remote.api.database, {
      text: "update nodes set agent_url = 'http://127.0.0.1:7071', subnet = '10.64.0.0/20' where id = 'local'",
    })
    const { socket, first } = await follow(gateway)
    let told = first
    socket.on('data', (chunk: Buffer) => (told += chunk.toString()))
    await until('the routes are told', () => told.includes('"kind":"end"'), { limitMs: 10_000 })
    socket.destroy()
    assert.match(told, /"node":\{"id":"local","agentUrl":"http:\/\/10\.64\.0\.1:7071"/)
    const beside = await fetch(`${remote.api.url}${routes}`, {
      headers: { authorization: `Bearer ${testGatewayToken}` },
    })
    const reader = beside.body!.pipeThrough(new TextDecoderStream()).getReader()
    let shown = ''
    while (!shown.includes('"kind":"end"')) shown += (await reader.read()).value ?? ''
    await reader.cancel()
    assert.match(shown, /"node":\{"id":"local","agentUrl":"http:\/\/127\.0\.0\.1:7071"/)
  })

  it('can not have calls of its host passed on', async () => {
    const socket = await remote.connect(gateway, { ALPNProtocols: ['h2'] })
    await once(socket, 'close')
    assert.deepEqual(remote.calls, [])
  })

  it('is cut off within a second when its machine is removed', async () => {
    const { socket } = await follow(gateway)
    socket.resume()
    const closed = once(socket, 'close')
    assert.equal((await remote.admin.api.one('deleteHosts', { body: { name: 'h2' } })).status, 'success')
    const fromMs = performance.now()
    await closed
    assert.ok(performance.now() - fromMs < cutLimitMs)
    assert.equal(statusOf(await ask(`GET ${routes}`, gateway)), 401)
  })
})
