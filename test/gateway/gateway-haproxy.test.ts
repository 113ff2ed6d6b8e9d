import assert from 'node:assert/strict'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { trustedProxies } from '../../src/gateway/clients/trusted-proxies.ts'
import { freePorts } from '../../src/primitives/free-ports.ts'
import { readAll, testHost } from '../support/gateway-http.ts'
import { startHaproxy } from '../support/haproxy.ts'
import type { Haproxy } from '../support/haproxy.ts'
import { PublicGateway, closed, tcpPort } from '../support/public-gateway.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const clientAddress = '127.0.0.9'

/** Clients connect from other loopback addresses than HAProxy does. */
describe('the gateway behind a real HAProxy', function () {
  this.timeout(limitMs * 2)
  let all: PublicGateway
  let haproxy: Haproxy
  let ports: { readonly passed: number; readonly bytes: number; readonly ended: number }

  beforeEach(async () => {
    all = await PublicGateway.start({
      trustsPeer: trustedProxies(['127.0.0.1']),
      clientLimits: { connectionsPerSource: 2 },
    })
    const redirect = { port: 80, destinationPort: 443, handlers: ['http', 'redirect'] as const }
    all.tell({ kind: 'service', service: { ...all.service, ports: [...all.service.ports, redirect] } })
    await all.listening()
    const [passed = 0, bytes = 0, ended = 0] = await freePorts(3)
    ports = { passed, bytes, ended }
    const at = (port: number): string => `127.0.0.1:${port + all.portOffset}`
    haproxy = await startHaproxy(
      [passed, bytes, ended],
      (certificate) => `
listen passed
  mode tcp
  bind 127.0.0.1:${passed}
  server roost ${at(443)} send-proxy-v2 check inter 50ms
listen bytes
  mode tcp
  bind 127.0.0.1:${bytes}
  server roost ${at(tcpPort)} send-proxy-v2
listen ended
  mode http
  bind 127.0.0.1:${ended} ssl crt ${certificate}
  option forwardfor
  http-request set-header X-Forwarded-Proto https
  server roost ${at(80)}
`,
    )
  })

  afterEach(async () => {
    await haproxy.stop()
    await all.close()
  })

  function client(port: number, localAddress = clientAddress): TLSSocket {
    // Node has the option `localAddress`, but its types do not.
    const from: ConnectionOptions & { readonly localAddress: string } = {
      host: '127.0.0.1',
      port,
      localAddress,
      servername: testHost,
      rejectUnauthorized: false,
    }
    return connectTls(from).on('error', () => undefined)
  }

  async function ask(port: number): Promise<string> {
    all.respond = (socket) =>
      socket.on('data', (head: Buffer) =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${head.length}\r\n\r\n${head.toString('latin1')}`),
      )
    const socket = client(port)
    socket.write(`GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: close\r\n\r\n`)
    return readAll(socket)
  }

  it('sees the real client of a connection that HAProxy passes on, and HAProxy’s checks are no fault', async () => {
    const answer = await ask(ports.passed)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.match(answer, /^X-Forwarded-For: 127\.0\.0\.9\r$/m)
    const failed = 'roost_gateway_handshakes_total{outcome="failed"}'
    const checked = async (): Promise<boolean> => ((await all.metric(failed)) ?? 0) > 1
    await until('HAProxy has checked the gateway', checked, { limitMs })
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="proxy-header"}'), 0)
  })

  it('bounds each client of HAProxy on its own', async () => {
    const served = async (from: string): Promise<unknown> => {
      const socket = client(ports.bytes, from)
      socket.write('a')
      const answered = new Promise((resolve) => socket.once('data', () => resolve('served')))
      return Promise.race([answered, closed(socket).then(() => 'closed')])
    }
    assert.equal(await served('127.0.0.9'), 'served')
    assert.equal(await served('127.0.0.9'), 'served')
    assert.equal(await served('127.0.0.9'), 'closed')
    assert.equal(await served('127.0.0.8'), 'served')
  })

  it('serves a page whose TLS ends at HAProxy, without a redirect back to it', async () => {
    const answer = await ask(ports.ended)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.match(answer, /^X-Forwarded-For: 127\.0\.0\.9, 127\.0\.0\.1\r$/m)
    assert.match(answer, /^X-Forwarded-Proto: https\r$/m)
    assert.match(answer, /^X-Forwarded-Port: 443\r$/m)
  })
})
