import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { trustedProxies } from '../../src/gateway/clients/trusted-proxies.ts'
import { clientBehind } from '../../src/gateway/http/trusted-origin.ts'
import { TestFront, exchangeRaw, fixedRoutes, routeService } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { closed } from '../support/public-gateway.ts'

const trustsPeer = trustedProxies(['127.0.0.1', '10.0.0.0/8'])

describe('a request from a trusted proxy', () => {
  let front: TestFront
  let upstream: Upstream
  let seen: IncomingMessage[] = []

  before(async () => {
    upstream = await Upstream.http((request, response) => {
      seen.push(request)
      response.end('hello')
    })
  })

  beforeEach(async () => {
    seen = []
    front = await TestFront.start({ trustsPeer })
    front.traffic.port = upstream.port
  })

  afterEach(async () => {
    assert.deepEqual(front.errors, [])
    await front.close()
  })

  after(() => upstream.close())

  const get = (port: number, ...lines: readonly string[]): Promise<string> =>
    exchangeRaw(
      port,
      `GET /a?b HTTP/1.1\r\n${['Host: app.test', ...lines].join('\r\n')}\r\nConnection: close\r\n\r\n`,
    )

  /** The origin fields that the application got. */
  const told = async (...lines: readonly string[]): Promise<NodeJS.Dict<string | string[]>> => {
    seen = []
    await get(front.plainPort, ...lines)
    const [first] = seen
    assert(first)
    return first.headers
  }

  it('takes the scheme, host and port that the proxy said last, not what its client sent before', async () => {
    const headers = await told(
      'X-Forwarded-Proto: http',
      'X-Forwarded-Proto: wss, https',
      'X-Forwarded-Host: evil.test, good.test:8443',
      'X-Forwarded-Port: 1',
      'X-Forwarded-Port: 8443',
    )
    assert.equal(headers['x-forwarded-proto'], 'https')
    assert.equal(headers['x-forwarded-host'], 'good.test:8443')
    assert.equal(headers['x-forwarded-port'], '8443')
  })

  it('loses values that are none, and gets those of the connection instead', async () => {
    const headers = await told(
      'X-Forwarded-Proto: javascript',
      'X-Forwarded-Host: "><script>',
      'X-Forwarded-Port: 80 80',
    )
    assert.equal(headers['x-forwarded-proto'], 'http')
    assert.equal(headers['x-forwarded-host'], 'app.test')
    assert.equal(headers['x-forwarded-port'], '8000')
  })

  it('has the port of the proxy if the proxy says the scheme alone', async () => {
    assert.equal((await told('X-Forwarded-Proto: https'))['x-forwarded-port'], '443')
    assert.equal((await told('X-Forwarded-Proto: http'))['x-forwarded-port'], '80')
    const moved = await told('X-Forwarded-Proto: https', 'X-Forwarded-Host: app.test:8443')
    assert.equal(moved['x-forwarded-port'], '8443')
  })

  it('keeps the chain of addresses, of one field or several, and gets the proxy at its end', async () => {
    const headers = await told('X-Forwarded-For: 1.2.3.4, 5.6.7.8', 'x-forwarded-for: 10.1.1.1')
    assert.equal(headers['x-forwarded-for'], '1.2.3.4, 5.6.7.8, 10.1.1.1, 127.0.0.1')
  })

  it('keeps Forwarded only if the element that is added can not become part of a quoted text', async () => {
    const own = 'for=127.0.0.1;host="app.test";proto=http'
    const sound = 'for="[2001:db8::1]:80";by="a\\"b"'
    assert.equal((await told(`Forwarded: ${sound}`)).forwarded, `${sound}, ${own}`)
    assert.equal((await told('Forwarded: for="1.2.3.4')).forwarded, own)
    // The second value closes the quote of the first one, and would be hidden by it.
    assert.equal((await told('Forwarded: for="1.2.3.4', 'Forwarded: for=5.6.7.8;by="x')).forwarded, own)
    assert.equal((await told('Forwarded: for="1.2.3.4\\"')).forwarded, own)
  })

  it('whose scheme is https already gets the application instead of a redirect', async () => {
    const port = await front.listen(80)
    assert.match(await get(port, 'X-Forwarded-Proto: https'), /^HTTP\/1\.1 200 [^]*hello$/)
    assert.equal(seen[0]?.headers['x-forwarded-proto'], 'https')
    assert.match(await get(port, 'X-Forwarded-Proto: http'), /^HTTP\/1\.1 308 /)
    assert.match(await get(port), /^HTTP\/1\.1 308 /)
    // Its client claimed https; the proxy added the truth.
    assert.match(await get(port, 'X-Forwarded-Proto: https, http'), /^HTTP\/1\.1 308 /)
  })

  it('that claims to be one is redirected as ever', async () => {
    const stranger = new TestFront({ trustsPeer: trustedProxies(['10.0.0.1']) })
    const port = await stranger.listen(80)
    assert.match(await get(port, 'X-Forwarded-Proto: https'), /^HTTP\/1\.1 308 /)
    await stranger.close()
  })

  it('is not served behind a redirect that leads to a port without a service', async () => {
    const ports = [{ port: 80, destinationPort: 443, handlers: ['http', 'redirect'] as const }]
    const alone = new TestFront({ trustsPeer, routes: fixedRoutes(routeService({ ports })) })
    const port = await alone.listen(80)
    assert.match(await get(port, 'X-Forwarded-Proto: https'), /^HTTP\/1\.1 404 /)
    await alone.close()
  })
})

describe('a trusted proxy’s connection that holds too many bytes', function () {
  this.timeout(30_000)

  it('is told by the client of its request', async () => {
    const upstream = await Upstream.http((request) => void request.pause())
    const front = await TestFront.start({ trustsPeer }, { heldBytesPerSource: 32 << 10 })
    front.traffic.port = upstream.port
    const bytes = 8 << 20
    const head = `POST / HTTP/1.1\r\nHost: app.test\r\nX-Forwarded-For: 9.9.9.9, 5.6.7.8\r\nContent-Length: ${bytes}\r\n\r\n`
    const socket = connect(front.plainPort, '127.0.0.1').on('error', () => undefined)
    const ended = closed(socket)
    socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes)]))
    await ended
    assert.deepEqual(front.overBudgetOf, ['5.6.7.8'])
    await front.traffic.idle()
    await front.close()
    upstream.close()
  })
})

describe('the client behind a trusted proxy', () => {
  const behind = (...values: readonly string[]): string =>
    clientBehind(
      '127.0.0.1',
      values.flatMap((value) => ['X-Forwarded-For', value]),
      trustsPeer,
    )

  it('is the last address that is not a trusted proxy’s, whatever stands before it', () => {
    assert.equal(behind('1.2.3.4'), '1.2.3.4')
    assert.equal(behind('1.2.3.4, 5.6.7.8, 10.9.9.9'), '5.6.7.8')
    assert.equal(behind('9.9.9.9', '5.6.7.8,10.9.9.9 , 10.8.8.8'), '5.6.7.8')
    assert.equal(behind('evil"; , 5.6.7.8'), '5.6.7.8')
  })

  it('may be written with a port, in brackets, or as IPv4 within IPv6', () => {
    assert.equal(behind('5.6.7.8:4000'), '5.6.7.8')
    assert.equal(behind('[2001:db8::1]:4000'), '2001:db8::1')
    assert.equal(behind('2001:db8::1'), '2001:db8::1')
    assert.equal(behind('5.6.7.8, ::ffff:10.9.9.9'), '5.6.7.8')
  })

  it('is the last proxy if nothing before it is an address', () => {
    assert.equal(behind(), '127.0.0.1')
    assert.equal(behind('unknown'), '127.0.0.1')
    assert.equal(behind('5.6.7.8, unknown, 10.9.9.9'), '10.9.9.9')
    assert.equal(behind('10.9.9.9'), '10.9.9.9')
  })
})
