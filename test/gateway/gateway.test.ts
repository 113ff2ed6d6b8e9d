import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectPlain, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { createGateway } from '../../src/gateway/gateway.ts'
import type { Gateway, GatewayOptions } from '../../src/gateway/gateway.ts'
import type { CertificatePem } from '../../src/gateway/listeners/context-cache.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { makeAuthority } from '../../src/launch/services/local-authority.ts'
import { closed } from '../support/public-gateway.ts'
import { routeService, testHost } from '../support/gateway-http.ts'
import { testCertificate } from '../support/gateway-http-certificate.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const tcpPort = 5432
const pendingHost = 'pending.test'
/**
 * All ports stay below the range that the system gives to outgoing connections, because any program may have
 * a port of that range at any time.
 */
const randomOffset = (): number => 10_000 + Math.floor(Math.random() * 17_000)
const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('the gateway', function () {
  this.timeout(limitMs)
  let host: FakeLeaseServer
  let application: Server
  let gateway: Gateway | undefined
  let offset = 0
  let metro: { current: CertificatePem }
  let respond: (socket: Socket) => void

  before(async () => {
    const { cert, key } = await testCertificate()
    metro = { current: { chain: cert, key } }
  })
  beforeEach(async () => {
    host = await FakeLeaseServer.start()
    respond = (socket) => socket.pipe(socket)
    application = createServer({ allowHalfOpen: true }, (socket) => respond(socket))
    application.listen(0, '127.0.0.1')
    await once(application, 'listening')
    host.reach = { host: '127.0.0.1', port: (application.address() as AddressInfo).port }
  })
  afterEach(async () => {
    await gateway?.close()
    host.close()
    application.close()
  })

  async function start(
    over: Partial<GatewayOptions> = {},
    { listeners = 3, tcpPorts = [tcpPort] }: { listeners?: number; tcpPorts?: readonly number[] } = {},
  ): Promise<void> {
    const table = new RouteTable({ builtIn: [] })
    const service = routeService({
      domains: [{ fqdn: testHost }, { fqdn: pendingHost, certificateUuid: 'c' }],
      ports: [
        { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] },
        ...tcpPorts.map((port) => ({ port, destinationPort: port, handlers: ['tls'] as const })),
      ],
    })
    table.apply({ kind: 'begin', snapshot: true })
    table.apply({ kind: 'node', node: host.node })
    table.apply({
      kind: 'certificate',
      certificate: { uuid: 'c', commonName: pendingHost, state: 'pending' },
    })
    table.apply({ kind: 'service', service })
    const instance = {
      uuid: 'a',
      name: 'a',
      serviceUuid: service.uuid,
      nodeId: 'node-1',
      state: 'running',
    } as const
    table.apply({ kind: 'instance', instance })
    table.apply({ kind: 'end', revision: '1' })
    offset = over.portOffset ?? randomOffset()
    const portOffset = offset
    const fixed = { routes: table, metroCertificate: metro, portOffset, host: '127.0.0.1', log: silentLog }
    gateway = createGateway({ ...fixed, ...over })
    gateway.start()
    await until('all ports listen', () => gateway?.ports.listening === listeners, { limitMs })
  }

  function client(port: number, servername = testHost): TLSSocket {
    const to = { port: port + offset, host: '127.0.0.1', servername }
    // Node has this option, but its types do not.
    const half: ConnectionOptions & { allowHalfOpen: boolean } = { ...to, allowHalfOpen: true }
    const socket = connect({ ...half, rejectUnauthorized: false })
    socket.on('error', () => undefined)
    socket.once('end', () => socket.end())
    return socket
  }

  async function all(socket: Socket): Promise<Buffer> {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    await closed(socket)
    return Buffer.concat(chunks)
  }

  it('passes bytes both ways after the client has ended its side', async () => {
    await start()
    const socket = client(tcpPort)
    const sent = Buffer.alloc(3 << 20, 7)
    const received = all(socket)
    socket.end(sent)
    assert.equal(sent.compare(await received), 0)
  })

  it('serves a page over TLS from an instance that was woken for it', async () => {
    respond = (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
    await start()
    const socket = client(443)
    socket.write(`GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: close\r\n\r\n`)
    assert.match((await all(socket)).toString(), /^HTTP\/1\.1 200 [^]*hi$/)
  })

  it('shows another metro certificate to connections after it was swapped', async () => {
    await start()
    const shown = async (): Promise<string> => {
      const socket = client(443, 'nobody.test')
      await once(socket, 'secureConnect')
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    }
    const before = await shown()
    metro.current = await makeAuthority('other.test', Date.now())
    assert.notEqual(await shown(), before)
  })

  it('refuses the handshake with an alert while the certificate of a name is pending', async () => {
    await start()
    const socket = client(443, pendingHost)
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    assert.match(error.message, /unrecognized name/)
  })

  it('ends a connection whose client begins no handshake', async () => {
    await start({ listenerLimits: { handshakeMs: 50 } })
    const socket = connectPlain(443 + offset, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(Buffer.from([0x16]))
    await closed(socket)
  })

  it('bounds the connections of one source', async () => {
    await start({ clientLimits: { connectionsPerSource: 1 } })
    const first = client(tcpPort)
    first.write('a')
    await once(first, 'data')
    const second = connectPlain(tcpPort + offset, '127.0.0.1')
    second.on('error', () => undefined)
    await closed(second)
    assert.match(
      (await gateway?.registry.metrics()) ?? '',
      /refusals_total\{reason="connections-of-source"\} 1/,
    )
    first.destroy()
  })

  it('leaves a port of the platform alone, whoever publishes it', async () => {
    const portOffset = randomOffset()
    const withheldPorts = new Set([tcpPort + portOffset])
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) }
    await start({ portOffset, withheldPorts, log }, { listeners: 2 })
    assert.deepEqual(gateway?.ports, { wanted: 2, listening: 2, untried: 0 })
    assert.match(warnings.join(), /public port 5432 can not be used/)
  })

  it('goes on without a port that its offset moves beyond the last one', async () => {
    await start({}, { listeners: 2, tcpPorts: [65_535] })
    assert.deepEqual(gateway?.ports, { wanted: 2, listening: 2, untried: 0 })
  })

  /**
   * Resolves when the gateway has given back every lease that it had, with their number. On a busy machine a
   * connection may be quiet for long enough even before its first byte, so the first lease that is given back
   * may not be the last.
   */
  async function untilQuiet(): Promise<number> {
    const given = () => host.all('open').length
    await until('no lease is held', () => given() > 0 && host.all('idle').length === given(), { limitMs })
    return given()
  }

  it('wakes a sleeper before it passes on the next bytes of a quiet connection', async () => {
    host.answer = () => ({ returnAfterMs: 20, quietConnectionsSleep: true })
    await start()
    const socket = client(tcpPort)
    socket.write('a')
    await once(socket, 'data')
    const opens = await untilQuiet()
    host.answer = () => undefined
    socket.write('b')
    const open = await host.next('open', opens + 1)
    const echoed = once(socket, 'data')
    host.open(open, { boot: 2, memoryBoot: 1 })
    assert.equal(String((await echoed)[0]), 'b')
    socket.destroy()
  })

  it('ends a quiet connection whose instance came back with another memory', async () => {
    host.answer = () => ({ returnAfterMs: 20, quietConnectionsSleep: true })
    await start()
    const socket = client(tcpPort)
    socket.write('a')
    await once(socket, 'data')
    await untilQuiet()
    host.answer = () => ({ boot: 2, memoryBoot: 2 })
    socket.write('b')
    await closed(socket)
  })
})
