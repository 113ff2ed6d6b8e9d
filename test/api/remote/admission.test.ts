import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { removeJoinedHost } from '../../../src/db/host/joining.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { ApiClient } from '../../../src/host/agent/api-client.ts'
import { makePartAuthority } from '../../../src/trust/part-authority.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import { testAgentSecret } from '../../support/accounts.ts'
import { identityOf } from '../../support/part-identities.ts'
import { exchange, requestText, startRemoteApi } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'
import { until } from '../../support/until.ts'

describe('who is let in where hosts on other machines connect', () => {
  let remote: RemoteApi
  let h2: PartIdentity
  before(async () => {
    remote = await startRemoteApi()
    h2 = await remote.joined('h2')
    await remote.joined('h3')
  })
  after(() => remote.close())

  const agent = async (id: string, authority = remote.authority) =>
    await identityOf(authority, { part: PlatformPart.Agent, id })

  const ask = async (
    line: string,
    identity: Partial<PartIdentity> = h2,
    options: Parameters<typeof requestText>[1] = {},
  ) => await exchange(await remote.connect(identity), requestText(line, options))

  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])

  const secretOf = (id: string) => ({ headers: [`Authorization: Bearer ${testAgentSecret(id)}`] })

  const roomOf = (id: string, agentUrl = 'https://127.0.0.1:7071') => ({
    agentUrl,
    agentSecret: testAgentSecret(id),
    accelerator: 'tcg' as const,
    memoryMb: 4_096,
    volumeMb: 0,
    occupiedSubnets: [],
    version: '0.1.0',
  })

  const beat = async (identity: PartIdentity, id: string, agentUrl?: string) => {
    const body = JSON.stringify(roomOf(id, agentUrl))
    const headers = ['Content-Type: application/json']
    return await ask(`PUT /internal/nodes/${id}`, identity, { headers, body })
  }

  it('is a machine that joined, for what is its own', async () => {
    assert.equal(statusOf(await beat(h2, 'h2')), 200)
    const answer = await ask('GET /internal/nodes/h2/instances', h2, secretOf('h2'))
    assert.match(answer, /\r\n\{"instances":\[\],"arriving":\[\]\}\n$/)
    const wrong = await ask('GET /internal/nodes/h2/instances', h2, secretOf('h3'))
    assert.equal(statusOf(wrong), 401, 'the certificate alone does not open what needs the secret')
  })

  it('is no host whose agent would be called without TLS', async () => {
    const answer = await beat(h2, 'h2', 'http://192.0.2.1:80')
    assert.equal(statusOf(answer), 400)
    assert.match(answer, /has to be at an address with https/)
  })

  it('is nobody else', async () => {
    const other = await makePartAuthority(Date.now())
    const expired = Date.now() - 8 * 86_400_000
    const h2Name = { part: PlatformPart.Agent, id: 'h2' }
    const strangers: readonly (readonly [string, Partial<PartIdentity>])[] = [
      ['without a certificate', {}],
      ['with a certificate of another authority', await agent('h2', other)],
      [
        'with the certificate of a gateway',
        await identityOf(remote.authority, { part: PlatformPart.Gateway, id: 'h2' }),
      ],
      [
        'with the certificate of an API',
        await identityOf(remote.authority, { part: PlatformPart.Api, id: 'h2' }),
      ],
      ['with a host that never joined', await agent('h9')],
      ['with the right name and another key', await agent('h2')],
      [
        'with another key and an old certificate',
        await identityOf(remote.authority, h2Name, { nowMs: expired }),
      ],
      [
        'with an old certificate of another authority for the right key',
        await identityOf(other, h2Name, { nowMs: expired, key: h2.key }),
      ],
    ]
    for (const [who, identity] of strangers) {
      for (const line of ['PUT /internal/nodes/h2', 'POST /internal/nodes/h2/certificate', 'GET /v2/']) {
        const answer = await ask(line, identity, secretOf('h2'))
        assert.equal(statusOf(answer), 401, `${who}: ${line}`)
        assert.match(answer, /has not joined the installation, or it was removed/, who)
      }
    }
  })

  it('gets its next certificate also when the last one is over, and nothing else until then', async () => {
    const h5 = await remote.joined('h5')
    const nowMs = Date.now() - 8 * 86_400_000
    const late = await identityOf(
      remote.authority,
      { part: PlatformPart.Agent, id: 'h5' },
      { nowMs, key: h5.key },
    )
    for (const line of [
      'PUT /internal/nodes/h5',
      'GET /internal/nodes/h5/apis',
      'GET /v2/',
      'POST /internal/nodes/h2/certificate',
    ])
      assert.equal(statusOf(await ask(line, late, secretOf('h5'))), 401, line)
    const line = 'POST /internal/nodes/h5/certificate'
    const answer = await ask(line, late)
    assert.equal(statusOf(answer), 200, answer)
    const { certificate } = JSON.parse(/\{.*\}/.exec(answer)![0])
    assert.equal(statusOf(await ask('GET /internal/nodes/h5/apis', { ...h5, certificate })), 200)
    assert.deepEqual(await removeJoinedHost(remote.api.database, 'h5'), { ok: true })
    await until('a removed host gets none', async () => statusOf(await ask(line, late)) === 401, {
      limitMs: 5_000,
    })
  })

  it('goes on with its next certificate on another connection', async () => {
    const h6 = await remote.joined('h6')
    const name = { part: PlatformPart.Agent, id: 'h6' }
    const nowMs = Date.now() - 8 * 86_400_000
    let current = await identityOf(remote.authority, name, { nowMs, key: h6.key })
    const api = new ApiClient({
      apiUrl: `https://127.0.0.1:${remote.place.port}`,
      nodeId: 'h6',
      joinToken: '',
      agentSecret: testAgentSecret('h6'),
      identity: () => current,
    })
    try {
      await assert.rejects(api.heartbeat(roomOf('h6')), { status: 401 })
      const { key } = h6
      current = { certificate: await api.certificate(), key, authority: remote.authority.chain }
      await api.heartbeat(roomOf('h6'))
      assert.deepEqual(await api.instances(), { instances: [], arriving: [] })
    } finally {
      await api.close()
    }
  })

  it('may not ask for what is not its own', async () => {
    const lines = [
      'GET /internal/nodes/h3/instances',
      'PUT /internal/nodes/h3',
      'POST /internal/nodes/h3/certificate',
      'GET /internal/nodes/H2/instances',
      'GET /internal/nodes/h22/instances',
      'GET /internal/nodes',
      'GET /internal/gateway/routes',
      'POST /internal/parts/certificate',
      'GET /v1/hosts',
      'GET /metrics',
      'GET /healthz',
      'GET /console/',
      'GET /',
      'POST /v2/ann/app/blobs/uploads/',
    ]
    for (const line of lines) {
      const answer = await ask(line, h2, { headers: [`Authorization: Bearer ${remote.admin.token}`] })
      assert.equal(statusOf(answer), 403, `${line}: ${answer}`)
      const other = /^\S+ \/internal\/nodes\/([^/]+)/.exec(line)?.[1]
      const why =
        other === undefined
          ? "host 'h2' may not ask for "
          : `the certificate of this machine is that of host 'h2', and not of '${other}': \`npx roost join\` without arguments runs it as 'h2', `
      assert.ok(answer.includes(why), `${line}: ${answer}`)
    }
  })

  it('can not hide what it asks for behind another way to write it', async () => {
    const targets = [
      '/internal/nodes/h2/../h3/instances',
      '/internal/nodes/h3/../h2/instances',
      '/internal/nodes/h2/../../gateway/routes',
      '/v1/../internal/nodes/h2/instances',
      '/internal/nodes/h2/%2e%2e/h3/instances',
      '/internal/nodes/h3/%2E%2E/h2/instances',
      '/internal/nodes/%68%32/instances',
      '/internal/nodes/h2%2finstances',
      '/internal/nodes/h2\\..\\h3/instances',
      '//internal/nodes/h2/instances',
      '/internal//nodes/h2/instances',
      '/internal/nodes/h2//instances',
      '//registry/v2/ann/app',
      '///registry/v2/ann/app',
      '/v2/../metrics',
      '/v2/./',
      '/v2/%2e%2e/metrics',
      'http://127.0.0.1:9/v2/ann/app',
      `https://api.roost.internal/internal/nodes/h2/instances`,
      '/internal/nodes/h2/instances#/x',
      '*',
    ]
    for (const target of targets) {
      const method = target === '*' ? 'OPTIONS' : 'GET'
      const answer = await ask(`${method} ${target}`, h2, secretOf('h2'))
      assert.equal(statusOf(answer), 400, `${target}: ${answer}`)
    }
    assert.deepEqual(remote.registryTargets, [])
  })

  it('reads from the registry, with the path that it was let in by', async () => {
    for (const target of ['/v2/', '/v2/ann/app/blobs/sha256:ab', '/v2/a/manifests/x?ns=http://192.0.2.1/']) {
      const answer = await ask(`GET ${target}`)
      assert.match(answer, /^HTTP\/1\.1 200 [^]*a layer/, target)
      assert.equal(remote.registryTargets.at(-1), target)
    }
  })

  it('gets its next certificate for the key that it has, and no other', async () => {
    const answer = await ask('POST /internal/nodes/h2/certificate')
    const { certificate } = JSON.parse(/\{.*\}/.exec(answer)![0])
    assert.notEqual(certificate, h2.certificate)
    const renewed = { ...h2, certificate }
    assert.equal(statusOf(await ask('GET /internal/nodes/h2/instances', renewed, secretOf('h2'))), 200)
  })

  it('speaks TLS 1.3', async () => {
    await assert.rejects(remote.connect(h2, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }), {
      code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    })
    const socket = await remote.connect(h2)
    assert.equal(socket.getProtocol(), 'TLSv1.3')
    socket.destroy()
  })

  it('has its calls passed on, and a stranger has none', async () => {
    const call = async (identity: Partial<PartIdentity>) => {
      const socket = await remote.connect(identity, { ALPNProtocols: ['h2'] })
      const session = connectHttp2('https://api.roost.internal', { createConnection: () => socket })
      session.on('error', () => undefined)
      const stream = session.request({ ':method': 'POST', ':path': '/any' })
      stream.on('error', () => undefined)
      const status = await Promise.race([
        once(stream, 'response').then(([headers]) => headers[':status'] as number),
        once(socket, 'close').then(() => 'closed'),
      ])
      session.destroy()
      return status
    }
    assert.equal(await call(h2), 200)
    assert.equal(await call({}), 'closed')
    assert.equal(await call(await agent('h2')), 'closed')
    assert.equal(await call(await agent('h9')), 'closed')
    assert.deepEqual(remote.calls, ['h2'])
  })
})
