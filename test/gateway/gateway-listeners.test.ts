import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { builtInServices } from '../../src/gateway/built-in-services.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { makeAuthority } from '../../src/launch/services/local-authority.ts'
import { freePort } from '../../src/primitives/free-ports.ts'
import { PublicGateway, closed, everything, pendingHost, tcpPort } from '../support/public-gateway.ts'
import { testHost } from '../support/gateway-http.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const otherPort = 6379

/** A part of the platform that answers each request with `text`. */
async function answering(text: string): Promise<Server> {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n`
  const server = createServer((socket: Socket) => socket.once('data', () => socket.end(head + text)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

describe('the public ports of the gateway', function () {
  this.timeout(limitMs)
  let all: PublicGateway

  afterEach(async () => all.close())

  async function shown(servername: string, port = 443, over: ConnectionOptions = {}) {
    const client = all.client(port, { servername, ...over })
    const outcome = await once(client, 'secureConnect').then(() => undefined, String)
    const certificate = client.getPeerCertificate()
    const resumed = client.isSessionReused()
    client.destroy()
    return { outcome, resumed, certificate }
  }

  function metro(): PublicGateway['metro'] {
    return all.metro
  }

  /** Tells of a new certificate as the API does once it was issued. */
  async function issue(name: string): Promise<string> {
    const { chain, key } = await makeAuthority(name, Date.now())
    all.tell({
      kind: 'certificate',
      certificate: { uuid: 'c', commonName: pendingHost, state: 'valid', chain, key },
    })
    return chain
  }

  it('shows the certificate of a name as soon as it has one, the new one once it was swapped, and none once it is gone', async () => {
    all = await PublicGateway.start()
    assert.match(String((await shown(pendingHost)).outcome), /unrecognized name/)
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="certificate"}'), 1)
    await issue(pendingHost)
    const first = await shown(pendingHost)
    assert.equal(first.outcome, undefined)
    await issue(pendingHost)
    const second = await shown(pendingHost)
    assert.equal(second.outcome, undefined)
    assert.notEqual(second.certificate.fingerprint256, first.certificate.fingerprint256)
    all.tell({ kind: 'gone', what: 'certificate', id: 'c' })
    assert.match(String((await shown(pendingHost)).outcome), /unrecognized name/)
    assert.equal((await shown(testHost)).outcome, undefined)
  })

  it('resumes a session on any of its ports, also after the metro certificate was swapped', async () => {
    all = await PublicGateway.start()
    const client = all.client(443)
    const [session] = (await once(client, 'session')) as [Buffer]
    client.destroy()
    assert.equal((await shown(testHost, 443, { session })).resumed, true)
    assert.equal((await shown(testHost, tcpPort, { session })).resumed, true)
    metro().current = await makeAuthority('other.test', Date.now())
    assert.equal((await shown(testHost, 443, { session })).resumed, true)
    assert.equal((await shown(testHost)).resumed, false)
  })

  it('opens and closes ports with the services, and keeps connections to a port that it closes', async () => {
    all = await PublicGateway.start()
    const client = all.client(tcpPort)
    client.write('a')
    await once(client, 'data')
    const ports = all.service.ports.map((each) =>
      each.port === tcpPort ? { ...each, port: otherPort } : each,
    )
    all.tell({ kind: 'service', service: { ...all.service, ports } })
    await all.listening()
    const refused = all.plainClient()
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNREFUSED')
    client.write('b')
    assert.equal(String((await once(client, 'data'))[0]), 'b')
    const other = all.client(otherPort)
    other.write('c')
    assert.equal(String((await once(other, 'data'))[0]), 'c')
    client.destroy()
    other.destroy()
  })

  it('opens a port as soon as the program that held it closes it', async () => {
    all = await PublicGateway.start({ listenerLimits: { bindRetryMs: 20 } })
    const holder = createServer().listen(otherPort + all.portOffset, '127.0.0.1')
    await once(holder, 'listening')
    const port = { port: otherPort, destinationPort: tcpPort, handlers: ['tls'] as const }
    all.tell({ kind: 'service', service: { ...all.service, ports: [...all.service.ports, port] } })
    await until(
      'it was tried',
      async () => ((await all.metric('roost_gateway_bind_failures_total')) ?? 0) > 1,
      {
        limitMs,
      },
    )
    assert.equal(all.gateway.ports.listening, 3)
    holder.close()
    await all.listening()
    assert.equal(all.gateway.ports.listening, 4)
  })

  it('bounds the time of a handshake, even if its bytes keep coming one by one', async () => {
    all = await PublicGateway.start({ listenerLimits: { handshakeMs: 200 } })
    const socket = all.plainClient(443)
    // This record announces 512 bytes of a ClientHello. They come one at a time, every 20 ms.
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))
    const drip = setInterval(() => socket.write(Buffer.from([0])), 20)
    await closed(socket)
    clearInterval(drip)
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="handshake"}'), 1)
  })

  it('bounds connections in all, and has room again when one has closed', async () => {
    all = await PublicGateway.start({ clientLimits: { connections: 2 } })
    const kept = [all.client(), all.client()]
    for (const each of kept) each.write('a')
    await Promise.all(kept.map(async (each) => once(each, 'data')))
    await closed(all.plainClient())
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="connections"}'), 1)
    kept[0]?.destroy()
    const again = async (): Promise<boolean> => (await shown(testHost)).outcome === undefined
    await until('there is room', again, { limitMs })
    kept[1]?.destroy()
  })

  it('serves the API and the registry under their names without any host', async () => {
    const api = await answering('api')
    const registry = await answering('registry')
    const builtIn = builtInServices({
      apiUrl: `http://127.0.0.1:${portOf(api)}`,
      metroDomain: 'metro.test',
      registryBounded: true,
      registryOwnerPort: portOf(registry),
    })
    const table = new RouteTable({ builtIn: builtIn.map(({ service }) => service) })
    all = await PublicGateway.start({ builtIn }, table)
    for (const name of ['api', 'registry']) {
      const client = all.client(443, { servername: `${name}.metro.test` })
      client.write(`GET / HTTP/1.1\r\nHost: ${name}.metro.test\r\nConnection: close\r\n\r\n`)
      const answer = String(await everything(client))
      assert.match(answer, /^HTTP\/1\.1 200 /)
      assert.ok(answer.endsWith(`\r\n\r\n${name}`), answer)
    }
    assert.equal(all.host.all('open').length, 0)
    api.close()
    registry.close()
  })

  it('connects to an instance that was just started as soon as it listens', async () => {
    all = await PublicGateway.start()
    const port = await freePort()
    all.host.reach = { host: '127.0.0.1', port }
    const client = all.client()
    client.write('hello')
    await all.host.next('open')
    // While this handshake is made, the gateway's first attempt to connect to the instance is refused.
    assert.equal((await shown(testHost)).outcome, undefined)
    const late = createServer((socket) => socket.pipe(socket)).listen(port, '127.0.0.1')
    assert.equal(String((await once(client, 'data'))[0]), 'hello')
    client.destroy()
    late.close()
  })
})
