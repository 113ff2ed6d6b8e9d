import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { trustedProxies } from '../../src/gateway/clients/trusted-proxies.ts'
import type { GatewayOptions } from '../../src/gateway/gateway.ts'
import { readAll, testHost } from '../support/gateway-http.ts'
import { localCommand, proxyHeader } from '../support/proxy-header.ts'
import { PublicGateway, closed, tcpPort } from '../support/public-gateway.ts'
import { until } from '../support/until.ts'

/**
 * With every offset it is below the ports that the kernel gives to connections: one of these may be taken.
 */
const plainPort = 2000
const get = `GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: close\r\n\r\n`
/** The loopback has many addresses: one is the trusted proxy's, another one is a stranger's. */
const proxyAddress = '127.0.0.1'
const strangerAddress = '127.0.0.2'
const handshakeMs = 300

describe('the PROXY header before the gateway', function () {
  this.timeout(30_000)
  let all: PublicGateway
  let warnings: object[] = []

  async function start(over: Partial<GatewayOptions> = {}): Promise<void> {
    warnings = []
    all = await PublicGateway.start({
      trustsPeer: trustedProxies([proxyAddress]),
      log: {
        info: () => undefined,
        warn: (fields, message) => void warnings.push({ ...fields, message }),
        error: () => undefined,
      },
      ...over,
    })
    const plain = { port: plainPort, destinationPort: 8080, handlers: ['http'] as const }
    all.tell({ kind: 'service', service: { ...all.service, ports: [...all.service.ports, plain] } })
    await all.listening()
  }

  /** Makes the application answer each request with its own header. */
  function showHeads(): void {
    all.respond = (socket) =>
      socket.on('data', (head: Buffer) =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${head.length}\r\n\r\n${head.toString('latin1')}`),
      )
  }

  afterEach(async () => all.close())

  function open(port: number, localAddress = proxyAddress): Socket {
    const socket = connect({ port: port + all.portOffset, host: '127.0.0.1', localAddress })
    return socket.on('error', () => undefined)
  }

  /** Speaks TLS after the bytes that were already written to `raw`. */
  function secured(raw: Socket, ...ALPNProtocols: readonly string[]): TLSSocket {
    const over = { socket: raw, servername: testHost, rejectUnauthorized: false }
    const client = connectTls(
      ALPNProtocols.length > 0 ? { ...over, ALPNProtocols: [...ALPNProtocols] } : over,
    )
    return client.on('error', () => undefined)
  }

  async function sent(port: number, ...pieces: readonly (string | Buffer)[]): Promise<string> {
    const socket = open(port)
    const received = readAll(socket)
    for (const piece of pieces) socket.write(piece)
    return received
  }

  const forwardedFor = (answer: string): string | undefined => /^X-Forwarded-For: (.*)\r$/im.exec(answer)?.[1]

  const clients: readonly (readonly [string, string, string])[] = [
    ['IPv4', '198.51.100.9', '198.51.100.9'],
    ['IPv6', '2001:db8:0:0:0:0:0:9', '2001:db8::9'],
    ['IPv4 within IPv6', '0:0:0:0:0:ffff:c633:6409', '198.51.100.9'],
  ]
  for (const [kind, client, shown] of clients) {
    it(`tells the application the address of a client of ${kind}`, async () => {
      await start()
      showHeads()
      const answer = await sent(plainPort, Buffer.concat([proxyHeader({ client }), Buffer.from(get)]))
      assert.match(answer, /^HTTP\/1\.1 200 /)
      assert.equal(forwardedFor(answer), shown)
      const inForwarded = shown.includes(':') ? `"[${shown}]"` : shown
      assert(answer.includes(`Forwarded: for=${inForwarded};`))
    })
  }

  it('may come byte by byte, and so may the request after it', async () => {
    await start({ listenerLimits: { handshakeMs: 10_000 } })
    showHeads()
    const socket = open(plainPort)
    socket.setNoDelay(true)
    const received = readAll(socket)
    for (const byte of Buffer.concat([proxyHeader(), Buffer.from(get)])) {
      socket.write(Buffer.from([byte]))
      await delay(1)
    }
    assert.equal(forwardedFor(await received), '203.0.113.7')
  })

  it('may be in one packet with the request after it, and in a packet of its own', async () => {
    await start()
    showHeads()
    assert.equal(
      forwardedFor(await sent(plainPort, Buffer.concat([proxyHeader(), Buffer.from(get)]))),
      '203.0.113.7',
    )
    const socket = open(plainPort)
    const received = readAll(socket)
    socket.write(proxyHeader())
    await delay(50)
    socket.write(get)
    assert.equal(forwardedFor(await received), '203.0.113.7')
  })

  it('comes before the hello of TLS, in one packet with it or alone', async () => {
    await start()
    showHeads()
    for (const corked of [true, false]) {
      const raw = open(443)
      await once(raw, 'connect')
      if (corked) raw.cork()
      raw.write(proxyHeader())
      const client = secured(raw)
      client.write(get)
      if (corked) setTimeout(() => raw.uncork(), 20)
      assert.equal(forwardedFor(await readAll(client)), '203.0.113.7', String(corked))
    }
    assert.equal(await all.metric('roost_gateway_handshakes_total{outcome="failed"}'), 0)
  })

  it('comes before HTTP/2', async () => {
    await start()
    showHeads()
    const raw = open(443)
    raw.write(proxyHeader())
    const secure = secured(raw, 'h2')
    await once(secure, 'secureConnect')
    const session = connectHttp2(`https://${testHost}`, { createConnection: () => secure })
    const stream = session.request({ ':path': '/' })
    const answer = (await stream.setEncoding('latin1').toArray()).join('')
    assert.equal(forwardedFor(answer), '203.0.113.7')
    session.destroy()
  })

  it('comes before the hello on ports without HTTP', async () => {
    await start()
    const raw = open(tcpPort)
    raw.write(proxyHeader())
    const client = secured(raw)
    client.write('hello')
    assert.equal(String((await once(client, 'data'))[0]), 'hello')
    client.destroy()
  })

  it('may be missing: a trusted proxy is served with and without TLS as any client', async () => {
    await start()
    showHeads()
    assert.equal(forwardedFor(await sent(plainPort, get)), proxyAddress)
    const secure = secured(open(443))
    secure.write(get)
    assert.equal(forwardedFor(await readAll(secure)), proxyAddress)
    all.respond = (socket) => socket.pipe(socket)
    const tcp = all.client()
    tcp.write('hello')
    assert.equal(String((await once(tcp, 'data'))[0]), 'hello')
    tcp.destroy()
  })

  it('of a proxy that speaks for itself leaves the proxy as the client', async () => {
    await start()
    showHeads()
    for (const header of [proxyHeader({ command: localCommand }), proxyHeader({ protocol: 0 })])
      assert.equal(forwardedFor(await sent(plainPort, header, get)), proxyAddress)
  })

  it('of a peer that is not trusted is never read', async () => {
    await start()
    const plain = open(plainPort, strangerAddress)
    plain.write(Buffer.concat([proxyHeader(), Buffer.from(get)]))
    assert.match(await readAll(plain), /^HTTP\/1\.1 400 /)
    const secure = open(443, strangerAddress)
    secure.write(proxyHeader())
    secure.on('data', () => undefined)
    const client = secured(secure)
    await closed(client)
    assert.equal(await all.metric('roost_gateway_handshakes_total{outcome="failed"}'), 1)
    assert.deepEqual(all.accepted, [])
    assert.deepEqual(warnings, [])
  })

  it('that can not be used closes the connection without an answer, and the log says why', async () => {
    await start()
    const faulty: readonly (readonly [string | Buffer, RegExp])[] = [
      ['PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n', /version 1/],
      [proxyHeader({ version: 3 }), /version is not 2/],
      [proxyHeader({ length: 5_000 }), /longer than 4096/],
      [proxyHeader({ length: 3 }), /too short/],
      [proxyHeader({ protocol: 0x12 }), /another protocol/],
    ]
    for (const [header] of faulty) assert.equal(await sent(plainPort, header, get), '')
    assert.equal(await sent(443, proxyHeader({ version: 3 })), '')
    assert.equal(await sent(tcpPort, 'PROXY UNKNOWN\r\n'), '')
    assert.deepEqual(all.accepted, [])
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="proxy-header"}'), 7)
    // The same fault is not logged again at once.
    assert.equal(warnings.length, faulty.length)
    for (const [index, [, why]] of faulty.entries()) {
      assert.match(JSON.stringify(warnings[index]), why)
      assert.match(JSON.stringify(warnings[index]), /127\.0\.0\.1/)
    }
  })

  it('has to be complete within the time of a handshake, even if its bytes keep coming', async () => {
    await start({ listenerLimits: { handshakeMs } })
    for (const port of [plainPort, 443, tcpPort]) {
      const socket = open(port)
      const startedAtMs = performance.now()
      socket.write(proxyHeader({ length: 4_000 }))
      const drip = setInterval(() => socket.write(Buffer.from([0])), 20)
      await closed(socket)
      clearInterval(drip)
      assert(performance.now() - startedAtMs >= handshakeMs - 1)
    }
  })

  it('shares that time with the handshake after it', async () => {
    await start({ listenerLimits: { handshakeMs: 600 } })
    const socket = open(443)
    const startedAtMs = performance.now()
    await delay(500)
    socket.write(proxyHeader())
    await closed(socket)
    assert(performance.now() - startedAtMs < 1_000)
  })

  it('that ends too early, or never begins, leaves no connection behind', async () => {
    await start({ listenerLimits: { handshakeMs } })
    for (const port of [plainPort, 443, tcpPort]) {
      const early = open(port)
      early.end(proxyHeader().subarray(0, 20))
      await closed(early)
      const silent = open(port)
      silent.end()
      await closed(silent)
      await closed(open(port))
    }
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="proxy-header"}'), 3)
    const noneLeft = async (): Promise<boolean> =>
      (await all.metric('roost_gateway_connections{protocol="handshake"}')) === 0
    await until('no connection is left', noneLeft, { limitMs: 10_000 })
  })

  it('decides whose bound counts: that of the real client, and not the proxy’s', async () => {
    await start({ clientLimits: { connectionsPerSource: 1 } })
    const held = async (client: string | undefined): Promise<string> => {
      const raw = open(tcpPort)
      if (client !== undefined) raw.write(proxyHeader({ client }))
      const secure = secured(raw)
      secure.write('a')
      const answer = new Promise<string>((resolve) => secure.once('data', () => resolve('served')))
      return Promise.race([answer, closed(secure).then(() => 'closed')])
    }
    assert.equal(await held('198.51.100.1'), 'served')
    assert.equal(await held('198.51.100.2'), 'served')
    assert.equal(await held('198.51.100.1'), 'closed')
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="connections-of-source"}'), 1)
    // Without a header nobody knows whose the connections of a proxy are.
    assert.equal(await held(undefined), 'served')
    assert.equal(await held(undefined), 'served')
  })

  it('decides whose fields about the origin are believed: those of the address that it gives', async () => {
    await start({ trustsPeer: trustedProxies([proxyAddress, '198.51.100.9']) })
    showHeads()
    const claim = get.replace('\r\n\r\n', '\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n')
    assert.equal(forwardedFor(await sent(plainPort, proxyHeader(), claim)), '203.0.113.7')
    const chained = await sent(plainPort, proxyHeader({ client: '198.51.100.9' }), claim)
    assert.equal(forwardedFor(chained), '192.0.2.1, 198.51.100.9')
  })
})
