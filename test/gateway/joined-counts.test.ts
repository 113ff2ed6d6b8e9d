import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createHealthServer } from '../../src/bin/gateway-health.ts'
import { createPartClient, PartUnreachable } from '../../src/control/part-client.ts'
import type { PartClient } from '../../src/control/part-client.ts'
import { gatewayCountsPath } from '../../src/domain/host/control-role.ts'
import { HostRole } from '../../src/domain/host/role.ts'
import { fullName } from '../../src/domain/part-name.ts'
import { PlatformPart } from '../../src/domain/platform-part.ts'
import type { PartPlace } from '../../src/domain/platform-part.ts'
import { addTraffic, noTraffic } from '../../src/domain/service/service-traffic.ts'
import type { ServiceTraffic } from '../../src/domain/service/service-traffic.ts'
import { freePort } from '../../src/primitives/free-ports.ts'
import { makePartAuthority } from '../../src/trust/part-authority.ts'
import { serverTls } from '../../src/trust/part-identity.ts'
import type { PartIdentity } from '../../src/trust/part-identity.ts'
import type { KeyPairPem } from '../../src/x509/key-pair.ts'
import { identityOf } from '../support/part-identities.ts'

const token = 'the token'
const service = 'a service'

describe('the counts of a gateway beside the API and of one that joined', () => {
  let authority: KeyPairPem
  const servers: Server[] = []
  const clients: PartClient[] = []
  let places: readonly [PartPlace, PartPlace]
  before(async () => {
    authority = await makePartAuthority(Date.now())
    const beside = await serve(counted(3), { token })
    const joined = await serve(counted(4), { identity: await part(PlatformPart.Gateway, 'h2') })
    const gateway = { part: PlatformPart.Gateway } as const
    const certifiedAs = fullName({ part: PlatformPart.Gateway, id: 'h2' })
    places = [
      { ...gateway, name: 'beside', address: `http://127.0.0.1:${beside}` },
      { ...gateway, name: 'h2', address: `https://127.0.0.1:${joined}`, certifiedAs, alias: 'ab12' },
    ]
  })
  after(async () => {
    await Promise.all(clients.map(async (client) => await client.close()))
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })

  const part = async (kind: PlatformPart, id = 'a', by = authority) =>
    await identityOf(by, { part: kind, id })

  const counted = (requests: number): ServiceTraffic => ({ ...noTraffic, requests: { '2xx': requests } })

  async function serve(
    traffic: ServiceTraffic,
    shown: { readonly token?: string; readonly identity?: PartIdentity },
  ): Promise<number> {
    const server = createHealthServer({
      metrics: async () => 'one 1\n',
      notReady: () => undefined,
      trafficOf: () => ({ [service]: traffic }),
      ...shown,
    })
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  function clientOf(identity: PartIdentity | undefined, asked: readonly PartPlace[] = places): PartClient {
    const client = createPartClient({
      places: asked,
      gatewayToken: token,
      ...(identity && { identity: () => identity }),
    })
    clients.push(client)
    return client
  }

  it('are added up by APIs and workers', async () => {
    for (const kind of [PlatformPart.Api, PlatformPart.Worker]) {
      const told = await clientOf(await part(kind)).readTraffic([service], assert.fail)
      assert.deepEqual(
        told.map(({ gateway }) => gateway),
        ['1', 'ab12'],
      )
      const all = told.map(({ traffic }) => traffic[service] ?? noTraffic).reduce(addTraffic)
      assert.deepEqual(all.requests, { '2xx': 7 })
    }
  })

  it('come with the metrics of both', async () => {
    const client = clientOf(await part(PlatformPart.Api))
    for (const place of await client.places()) assert.equal(await client.readMetrics(place), 'one 1\n')
  })

  it('are told to no other part, and to nobody without a certificate of the installation', async () => {
    const [, joined] = places
    const other = await makePartAuthority(Date.now())
    const strangers = [
      await part(PlatformPart.Agent, 'h2'),
      await part(PlatformPart.Gateway),
      await part(PlatformPart.Api, 'a', other),
      undefined,
    ]
    for (const identity of strangers) {
      const client = clientOf(identity, [joined])
      const problems: string[] = []
      assert.deepEqual(await client.readTraffic([service], ({ message }) => problems.push(message)), [])
      assert.match(problems.join(), /the gateway at h2 (answered 403|does not answer)/)
      await assert.rejects(client.readMetrics(joined), PartUnreachable)
    }
  })

  it('are not taken from another gateway at the same address', async () => {
    const [, joined] = places
    const certifiedAs = fullName({ part: PlatformPart.Gateway, id: 'h3' })
    const client = clientOf(await part(PlatformPart.Api), [{ ...joined, certifiedAs }])
    await assert.rejects(client.readMetrics({ ...joined, certifiedAs }), PartUnreachable)
  })

  it('are told by the API beside a gateway to parts that do not reach it', async () => {
    const api = createSecureServer(serverTls(await part(PlatformPart.Api)), (request, response) => {
      const told = [{ gateway: '1', run: 'first', traffic: { [service]: counted(5) } }]
      response.statusCode = request.url === gatewayCountsPath ? 200 : 404
      response.end(JSON.stringify({ gateways: told }))
    })
    servers.push(api)
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    const identity = await part(PlatformPart.Worker, 'h3')
    const silent = `127.0.0.1:${await freePort()}`
    const client = createPartClient({
      places: [places[1]],
      gatewayToken: token,
      identity: () => identity,
      apis: async () => [`127.0.0.1:${(api.address() as AddressInfo).port}`, silent],
    })
    clients.push(client)
    const problems: string[] = []
    const told = await client.readTraffic([service], ({ message }) => problems.push(message))
    const byName = told.map(({ gateway, traffic }) => [gateway, traffic[service]?.requests])
    assert.deepEqual(byName, [
      ['ab12', { '2xx': 4 }],
      ['1', { '2xx': 5 }],
    ])
    assert.deepEqual(problems, [`the api at ${silent} does not answer`])
    assert.equal((await client.readTrafficHere([service], assert.fail)).length, 1)
  })

  it('are left out if what answers is no gateway', async () => {
    const stranger = createServer((_request, response) => response.end('<html>'))
    servers.push(stranger)
    stranger.listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    const place = { part: PlatformPart.Gateway, name: 'stranger', address } as const
    const problems: string[] = []
    const client = clientOf(undefined, [place, places[0]])
    const told = await client.readTraffic([service], ({ message }) => problems.push(message))
    assert.deepEqual(
      told.map(({ gateway }) => gateway),
      ['2'],
    )
    assert.deepEqual(problems, ['the gateway at stranger answered with something else than JSON'])
  })

  it('are asked of each gateway that joined, as its row says', async () => {
    const at = { hostId: 'h2', agentUrl: 'https://192.0.2.2:7071' }
    const joined = async () => [
      { part: HostRole.Gateway, ...at, keySha256: 'abcdef0123' },
      { part: HostRole.Worker, ...at, keySha256: '0123456789' },
      { part: HostRole.Api, ...at },
    ]
    const client = createPartClient({ places: [places[0]], gatewayToken: token, joined })
    clients.push(client)
    assert.deepEqual((await client.places())[1], {
      part: 'gateway',
      name: 'h2',
      address: 'https://192.0.2.2:7073',
      certifiedAs: 'h2.gateway.roost.internal',
      alias: 'abcdef01',
    })
  })
})
