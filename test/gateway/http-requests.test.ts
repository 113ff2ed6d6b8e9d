import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Refusal } from '../../src/gateway/traffic.ts'
import { TestFront, exchangeRaw, onBothRoads } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

onBothRoads('a request through the gateway', () => {
  let front: TestFront
  let upstream: Upstream
  let seen: IncomingMessage[] = []

  before(async () => {
    upstream = await Upstream.http((request, response) => {
      seen.push(request)
      if (request.url === '/own-connection') response.setHeader('Connection', 'X-Secret, keep-alive')
      response.setHeader('X-Secret', 'for the next hop')
      response.setHeader('Keep-Alive', 'timeout=7')
      response.setHeader('Set-Cookie', ['a=1', 'b=2'])
      if (request.url === '/empty') response.writeHead(204)
      if (request.url === '/unchanged') response.writeHead(304, { ETag: '"1"' })
      response.end(request.url === '/empty' || request.url === '/unchanged' ? undefined : 'hello')
    })
  })

  beforeEach(async () => {
    seen = []
    front = await TestFront.start()
    front.traffic.port = upstream.port
  })

  afterEach(async () => {
    assert.deepEqual(front.errors, [])
    await front.close()
  })

  after(() => upstream.close())

  const get = (lines: readonly string[], target = '/'): Promise<string> =>
    exchangeRaw(
      front.plainPort,
      `GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`,
    )

  const headersOf = (): NodeJS.Dict<string | string[]> => {
    const [first] = seen
    assert.ok(first)
    return first.headers
  }

  it('reaches the application with its own host, path and query', async () => {
    const answer = await get(['Host: APP.test:8000'], '/a//b/../c?d=%2f&e')
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(answer, /\r\n\r\nhello$/)
    assert.equal(seen[0]?.url, '/a//b/../c?d=%2f&e')
    assert.equal(headersOf()['host'], 'APP.test:8000')
  })

  it('tells the instance where it came from, and not what the client claims about that', async () => {
    await get([
      'Host: app.test:8000',
      'X-Forwarded-For: 1.2.3.4',
      'x-forwarded-proto: https',
      'X_Forwarded_Host: evil.test',
      'Forwarded: for=1.2.3.4',
      'X-Real-IP: 1.2.3.4',
    ])
    const headers = headersOf()
    assert.equal(headers['x-forwarded-for'], '127.0.0.1')
    assert.equal(headers['x-forwarded-proto'], 'http')
    assert.equal(headers['x-forwarded-host'], 'app.test:8000')
    assert.equal(headers['x-forwarded-port'], '8000')
    assert.equal(headers['forwarded'], 'for=127.0.0.1;host="app.test:8000";proto=http')
    assert.equal(headers['x_forwarded_host'], undefined)
    assert.equal(headers['x-real-ip'], undefined)
  })

  it('keeps what a trusted proxy says about its origin, and adds to that chain', async () => {
    await front.close()
    front = await TestFront.start({ trustsPeer: (address) => address === '127.0.0.1' })
    front.traffic.port = upstream.port
    await get(['Host: app.test', 'X-Forwarded-For: 1.2.3.4', 'X-Forwarded-Proto: https'])
    assert.equal(headersOf()['x-forwarded-for'], '1.2.3.4, 127.0.0.1')
    assert.equal(headersOf()['x-forwarded-proto'], 'https')
  })

  it('loses the fields that are for one connection only, in both directions', async () => {
    const answer = await get(
      [
        'Host: app.test',
        'Connection: X-Hop',
        'X-Hop: 1',
        'Keep-Alive: timeout=1',
        'TE: trailers',
        'Upgrade: h2c',
      ],
      '/own-connection',
    )
    for (const name of ['x-hop', 'keep-alive', 'te', 'upgrade'])
      assert.equal(headersOf()[name], undefined, name)
    assert.doesNotMatch(answer, /x-secret|timeout=7/i)
  })

  it('has an id: that of the client if it is well-formed, or else a new one', async () => {
    await get(['Host: app.test', 'X-Request-Id: abc-123'])
    assert.equal(headersOf()['x-request-id'], 'abc-123')
    seen = []
    await get(['Host: app.test', 'X-Request-Id: <script>'])
    assert.match(String(headersOf()['x-request-id']), /^[\w-]{12}-[0-9a-z]+$/)
  })

  it('gets every cookie of the answer as a field of its own', async () => {
    assert.match(await get(['Host: app.test']), /set-cookie: a=1\r\nset-cookie: b=2\r\n/i)
  })

  it('gets an answer without a body if the instance sends none', async () => {
    assert.match(await get(['Host: app.test'], '/empty'), /^HTTP\/1\.1 204 [^]*\r\n\r\n$/)
    assert.match(await get(['Host: app.test'], '/unchanged'), /^HTTP\/1\.1 304 [^]*\r\n\r\n$/)
    const head = await exchangeRaw(
      front.plainPort,
      'HEAD / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n',
    )
    assert.match(head, /^HTTP\/1\.1 200 [^]*\r\n\r\n$/)
  })

  it('may name its host in an absolute target, which then counts instead of the field', async () => {
    await get(['Host: other.test'], 'http://app.test/x')
    assert.equal(seen[0]?.url, '/x')
    assert.equal(headersOf()['host'], 'app.test')
  })

  it('without a service is answered in the format that the client accepts', async () => {
    const html = await get(['Host: nobody.test', 'Accept: text/html,*/*'])
    assert.match(html, /^HTTP\/1\.1 404 Not Found\r\n[^]*text\/html[^]*There is no service on this URL\./)
    assert.match(html, /cache-control: no-store/i)
    const json = await get(['Host: nobody.test', 'Accept: application/json'])
    const body: unknown = JSON.parse(json.slice(json.indexOf('\r\n\r\n')))
    assert.deepEqual(body, { status: 'error', message: 'There is no service on this URL.' })
  })

  it('with a header that is too large is refused, and told the bounds', async () => {
    for (const fields of [[`X: ${'x'.repeat(20_000)}`], Array.from({ length: 250 }, () => 'X: y')]) {
      const answer = await get(['Host: app.test', ...fields])
      assert.match(answer, /^HTTP\/1\.1 431 [^]*has more than 16384 bytes or 200 fields/)
    }
    assert.equal(seen.length, 0)
  })

  it('is answered over the same connection to the instance as those before', async () => {
    const received = await exchangeRaw(
      front.plainPort,
      'GET /1 HTTP/1.1\r\nHost: app.test\r\n\r\nGET /2 HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n',
    )
    assert.equal(received.match(/HTTP\/1\.1 200/g)?.length, 2)
  })

  it('on the redirecting port is sent to the secure one, with the offset', async () => {
    const moved = new TestFront({ portOffset: 8000 })
    const port = await moved.listen(80)
    const answer = await exchangeRaw(
      port,
      'GET /a?b=c HTTP/1.1\r\nHost: app.test:8080\r\nConnection: close\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 308 [^]*location: https:\/\/app\.test:8443\/a\?b=c\r\n/i)
    await moved.close()
  })

  it('is reported once, with the parts of its time', async () => {
    front.traffic.wakeUs = 90_000
    await get(['Host: app.test'])
    const report = await front.report()
    assert.equal(front.reports.length, 1)
    assert.equal(report.status, 200)
    assert.equal(report.serviceUuid, 'service-1')
    assert.equal(report.instanceUuid, 'instance-1')
    assert.deepEqual(report.wake, { kind: 'restore', wakeUs: 90_000 })
    assert.ok(report.upstreamUs !== undefined && report.upstreamUs <= report.totalUs)
    assert.equal(front.traffic.inFlight, 0)
  })

  it('shows the parts of its time only if that is switched on', async () => {
    assert.doesNotMatch(await get(['Host: app.test']), /server-timing/i)
    await front.close()
    front = await TestFront.start({ serverTiming: true })
    front.traffic.port = upstream.port
    front.traffic.wakeUs = 90_000
    const shown = /server-timing: queue;dur=0\.01, wake;dur=90\.00;desc="restore", upstream;dur=[\d.]+\r\n/i
    assert.match(await get(['Host: app.test']), shown)
  })

  it('that meets an error of the gateway itself is answered 500, and the error is told', async () => {
    front.traffic.answer = () => {
      throw new Error('broken at 10.0.0.1')
    }
    const answer = await get(['Host: app.test'])
    assert.match(answer, /^HTTP\/1\.1 500 /)
    assert.doesNotMatch(answer, /10\.0\.0\.1/)
    assert.equal(front.errors.splice(0).length, 1)
  })

  const refusals: readonly (readonly [Refusal, RegExp])[] = [
    [{ admitted: false, reason: 'no-instance' }, /^HTTP\/1\.1 404 [^]*There is no service on this URL/],
    [
      { admitted: false, reason: 'hard-limit', retryAfterMs: 1_500 },
      /^HTTP\/1\.1 503 [^]*retry-after: 2\r\n[^]*limit/i,
    ],
    [{ admitted: false, reason: 'queue-full', retryAfterMs: 0 }, /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n/i],
    [{ admitted: false, reason: 'timed-out', retryAfterMs: 10 }, /^HTTP\/1\.1 503 [^]*did not start in time/],
    [
      {
        admitted: false,
        reason: 'wake-failed',
        failure: 'ImageUnavailable',
        message: "its console ends with 'secret'",
        retryAfterMs: 9_000,
      },
      /^HTTP\/1\.1 503 (?![^]*secret)[^]*retry-after: 9\r\n[^]*could not be started: its image is not available\./i,
    ],
    [
      { admitted: false, reason: 'host-away', message: 'connect 10.1.2.3:7000', retryAfterMs: 10 },
      /^HTTP\/1\.1 503 (?![^]*10\.1\.2\.3)[^]*does not answer/,
    ],
  ]
  for (const [refusal, expected] of refusals) {
    it(`that is refused for ${refusal.reason} is told why`, async () => {
      front.traffic.answer = () => refusal
      assert.match(await get(['Host: app.test']), expected)
    })
  }

  it('that waits for an admission is given up with its client', async () => {
    let aborted: (() => void) | undefined
    const over = new Promise<void>((resolve) => {
      aborted = resolve
    })
    front.traffic.answer = ({ signal }) => {
      signal.addEventListener('abort', () => aborted?.())
      return over.then(() => undefined)
    }
    const socket = connect(front.plainPort, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n', () => socket.destroy())
    })
    await over
    await front.traffic.idle()
    assert.equal((await front.report()).status, 499)
    assert.equal(seen.length, 0)
  })

  it('finds its service whether or not its host has a port or a final dot', async () => {
    assert.match(await get(['Host: app.test.:1']), /^HTTP\/1\.1 200/)
  })
})
