import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { NativeConnection } from '@temporalio/worker'
import { relayConnection } from '../../src/bin/agent-temporal.ts'
import { createNodeClient } from '../../src/control/host-client.ts'
import type { NodeRecord } from '../../src/db/host/hosts.ts'
import type { NodeAssignment } from '../../src/domain/host/api-protocol.ts'
import { PlatformPart } from '../../src/domain/platform-part.ts'
import { otherVersion, protocolHeader, wires } from '../../src/domain/protocols.ts'
import { followRoutes } from '../../src/gateway/feed-client.ts'
import { HostLink } from '../../src/gateway/hosts/host-link.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { ApiClient } from '../../src/host/agent/api-client.ts'
import { Registration } from '../../src/host/agent/registration.ts'
import { LineStream } from '../../src/primitives/line-stream.ts'
import { joinInstallation } from '../../src/trust/join-client.ts'
import { makePartAuthority } from '../../src/trust/part-authority.ts'
import { framed } from '../support/grpc-client.ts'
import { identityOf } from '../support/part-identities.ts'
import { until } from '../support/until.ts'

const sentence = 'this is of a version that is not understood: upgrade it'
const nothing = (): void => undefined

describe('a part', () => {
  let heard: IncomingHttpHeaders | undefined
  let server: Server
  let url: string
  const refuse: RequestListener = (request, response) => {
    heard = request.headers
    request.resume()
    response.writeHead(otherVersion, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message: sentence }))
  }

  beforeEach(async () => {
    heard = undefined
    server = createServer(refuse).listen(0, '127.0.0.1')
    // The refusal of a request that would go on with another protocol, as the server of leases writes it.
    server.on('upgrade', (request, socket) => {
      heard = request.headers
      const body = JSON.stringify({ message: sentence })
      socket.end(`HTTP/1.1 426 Upgrade Required\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    })
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const told = (wire: { readonly version: number }): void =>
    assert.equal(heard?.[protocolHeader], String(wire.version))
  const apiClient = (): ApiClient =>
    new ApiClient({ apiUrl: url, nodeId: 'h1', joinToken: 'x', agentSecret: 'x' })

  it('that is a host tells its version to the API, and its log says why it is refused', async () => {
    const client = apiClient()
    const logged: string[] = []
    const refused = Promise.withResolvers<void>()
    const registration = new Registration({
      agentDirectory: '/nowhere',
      nodeId: 'h1',
      send: async (beat): Promise<NodeAssignment> => await client.heartbeat(beat),
      describe: async () => await Promise.resolve({} as Parameters<ApiClient['heartbeat']>[0]),
      onReassigned: nothing,
      onRefused: () => assert.fail('a host whose version is refused goes on'),
      log: {
        info: nothing,
        error: nothing,
        warn(_fields: object, message: string) {
          logged.push(message)
          refused.resolve()
        },
      },
      pauses: { intervalMs: 10, retryMs: 10 },
    })
    registration.start()
    await refused.promise
    registration.stop()
    await client.close()
    told(wires.hostCalls)
    assert.deepEqual(logged, [`the API refuses this host: ${sentence}`])
  })

  it('that is a host tells its version to the feed of names, and says why it is refused', async () => {
    const client = apiClient()
    const { promise: why, resolve } = Promise.withResolvers<string>()
    const stream = new LineStream({
      ask: () => client.namesRequest(undefined),
      maxLineBytes: 1_024,
      silenceMs: 10_000,
      onLine: nothing,
      onChange: (change) => change.connected || resolve(change.why),
    })
    stream.start()
    assert.equal(await why, `the server answered 426: ${sentence}`)
    await stream.stop()
    await client.close()
    told(wires.names)
  })

  it('that is a gateway tells its version to the feed of routes, and says why it is refused', async () => {
    const { promise: why, resolve } = Promise.withResolvers<string>()
    const feed = followRoutes({
      apiUrl: url,
      headers: {},
      sink: new RouteTable(),
      onChange: (change) => change.connected || resolve(change.why),
    })
    assert.equal(await why, `the server answered 426: ${sentence}`)
    await feed.stop()
    told(wires.routes)
  })

  it('that is a gateway tells its version to hosts, says why it is refused, and asks again', async () => {
    const { promise: why, resolve } = Promise.withResolvers<string>()
    const link = new HostLink({
      node: { id: 'h1', agentUrl: url, trafficSecret: 'x' },
      gatewayId: 'g',
      events: {
        held: () => [],
        shares: () => [],
        hear: nothing,
        lost: nothing,
        fellSilent: nothing,
        back: nothing,
      },
      nowMs: () => performance.now(),
      onProblem: resolve,
    })
    assert.equal(await why, `the host answered 426: ${sentence}`)
    told(wires.leases)
    heard = undefined
    await until('it asks again', () => heard !== undefined, { limitMs: 10_000 })
    link.close()
  })

  it('that is an API tells its version to hosts, and says why it is refused', async () => {
    const node = { id: 'h1', agentUrl: url, agentSecret: 'x' } as unknown as NodeRecord
    const client = createNodeClient({ listNodes: async () => await Promise.resolve([node]), nowMs: Date.now })
    await assert.rejects(client.readLoads('h1', []), { name: 'NodeUnavailable', message: sentence })
    await client.close()
    told(wires.agentCalls)
  })

  it('that is a machine which joins tells its version, and says why it is refused', async () => {
    const authority = await makePartAuthority(Date.now())
    const { key, certificate } = await identityOf(authority, { part: PlatformPart.Api, id: 'a' })
    const secure = createSecureServer({ key, cert: certificate }, refuse).listen(0, '127.0.0.1')
    await once(secure, 'listening')
    const place = { host: '127.0.0.1', port: (secure.address() as AddressInfo).port }
    const met = { place, authority: authority.chain, ownAddress: '127.0.0.1' }
    const keys = { publicKey: 'x', rolePublicKeys: {} }
    await assert.rejects(joinInstallation(met, { secret: 'x' }, keys), {
      name: 'JoinFailure',
      message: sentence,
    })
    secure.closeAllConnections()
    secure.close()
    told(wires.join)
  })

  it('that is a host tells its version to the relay with every call', async () => {
    const temporal = createHttp2Server()
    temporal.on('stream', (stream, headers) => {
      heard = headers
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(framed(Buffer.alloc(0)))
    })
    temporal.listen(0, '127.0.0.1')
    await once(temporal, 'listening')
    const address = `127.0.0.1:${(temporal.address() as AddressInfo).port}`
    const connection = await NativeConnection.connect(relayConnection({ address, namespace: 'default' }))
    await connection.close()
    temporal.close()
    told(wires.relay)
  })
})
