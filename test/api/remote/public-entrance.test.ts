import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { HostRole } from '../../../src/domain/host/role.ts'
import { PublicProtocol } from '../../../src/domain/host/gateway-role.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import { testGatewayToken } from '../../support/api-server.ts'
import { identityOf } from '../../support/part-identities.ts'
import { exchange, requestText, startRemoteApi } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'

/** A removed gateway is cut off within a second. The rest is for a busy machine. */
const cutLimitMs = 5_000

describe('what the gateway of a machine that joined passes on of the public', () => {
  let remote: RemoteApi
  let agent: PartIdentity
  let gateway: PartIdentity
  beforeEach(async () => {
    remote = await startRemoteApi()
    agent = await remote.joined('h2', [HostRole.Gateway])
    gateway = await remote.partOf('h2', HostRole.Gateway)
  })
  afterEach(() => remote.close())

  const gatewayOf = async (id: string, { key }: PartIdentity) =>
    await identityOf(remote.authority, { part: PlatformPart.Gateway, id }, { key })

  const open = async (protocol: PublicProtocol, identity: Partial<PartIdentity> = gateway) =>
    await remote.connect(identity, { ALPNProtocols: [protocol] })

  const ask = async (line: string, headers: readonly string[] = []) =>
    await exchange(await open(PublicProtocol.Api), requestText(line, { headers }))

  it('is answered by the API as anybody is, with the rights of its token', async () => {
    assert.match(await ask('GET /v1/hosts'), /^HTTP\/1\.1 401 /)
    const answer = await ask('GET /v1/hosts', [`Authorization: Bearer ${remote.admin.token}`])
    assert.match(answer, /^HTTP\/1\.1 200 [^]*"name":"local"/)
  })

  it('reaches no path for parts, whatever secret it has and however it is written', async () => {
    const headers = [`Authorization: Bearer ${testGatewayToken}`]
    for (const path of [
      '/internal/gateway/routes',
      '/internal/gateway/settings',
      '/internal/gateway/certificate',
      '/internal/nodes/h2/instances',
      '/internal',
      '/metrics',
      '/%69nternal/gateway/routes',
      '//internal/gateway/routes',
      'http://a/internal/gateway/routes',
      '/v1/../internal/gateway/routes',
    ])
      for (const method of ['GET', 'POST'])
        assert.match(await ask(`${method} ${path}`, headers), /^HTTP\/1\.1 40[0145] /, `${method} ${path}`)
    assert.match(await ask('POST /join'), /^HTTP\/1\.1 404 /)
  })

  it('is passed on to where users push images, byte for byte', async () => {
    const target = '/v2/ann/app/blobs/uploads/?x=%2e%2e'
    const answer = await exchange(await open(PublicProtocol.Registry), requestText(`POST ${target}`))
    assert.match(answer, /^HTTP\/1\.1 200 [^]*a layer/)
    assert.deepEqual(remote.registryTargets, [target])
  })

  it('is taken from gateways alone', async () => {
    const plain = await remote.joined('h3')
    const strangers: readonly (readonly [string, Partial<PartIdentity>])[] = [
      ['nobody', {}],
      ['an agent', agent],
      ['the gateway of a host without the role', await remote.partOf('h3', HostRole.Gateway)],
      ['a gateway with the key of its agent', await gatewayOf('h2', agent)],
      ['a gateway with another key', await gatewayOf('h2', plain)],
      ['a gateway that never joined', await gatewayOf('h9', plain)],
    ]
    for (const protocol of Object.values(PublicProtocol)) {
      for (const [who, identity] of strangers) {
        const closed = await answerTo(await open(protocol, identity))
        assert.equal(closed, '', `${who}: ${protocol}`)
      }
    }
    assert.deepEqual(remote.registryTargets, [])
  })

  it('ends within a second when the machine is removed', async () => {
    const sockets = await Promise.all(Object.values(PublicProtocol).map(async (one) => await open(one)))
    for (const socket of sockets) {
      socket.write('GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(socket, 'data')
    }
    const closed = sockets.map(async (socket) => await once(socket, 'close'))
    await remote.admin.api.one('deleteHosts', { body: { name: 'h2' } })
    const fromMs = performance.now()
    await Promise.all(closed)
    assert.ok(performance.now() - fromMs < cutLimitMs)
  })
})

/** What the server answers to a request until it closes the connection. */
async function answerTo(socket: TLSSocket): Promise<string> {
  return await exchange(socket, requestText('GET /v2/'))
}
