import assert from 'node:assert/strict'
import { ambiguousRequests, post, smuggled } from '../support/ambiguous-requests.ts'
import { Road, TestFront, exchangeRaw, onBothRoads } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

onBothRoads('an ambiguous request', (road) => {
  let front: TestFront
  let upstream: Upstream
  const seen: string[] = []

  before(async () => {
    upstream = await Upstream.http((request, response) => {
      seen.push(request.url ?? '')
      request.resume()
      request.on('end', () => response.end('reached'))
    })
    front = await TestFront.start({ limits: { lingerMs: 50 } })
    front.traffic.port = upstream.port
  })

  beforeEach(() => seen.splice(0))

  after(async () => {
    await front.close()
    upstream.close()
  })

  for (const [what, bytes, status = /400/] of ambiguousRequests) {
    it(`with ${what} is refused, and its connection ends`, async () => {
      const answer = await exchangeRaw(front.plainPort, Buffer.from(bytes, 'latin1'))
      assert.match(answer.slice(0, 12), new RegExp(`^HTTP/1\\.1 (${status.source})`), answer.slice(0, 200))
      assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1)
      assert.ok(!seen.includes('/smuggled'))
      await front.traffic.idle()
      assert.deepEqual(front.errors, [])
    })
  }

  it('is not read from bytes that follow an upgrade to another protocol', async () => {
    const bytes = `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n${smuggled}`
    const answer = await exchangeRaw(front.plainPort, bytes)
    assert.match(answer, /^HTTP\/1\.1 200/)
    assert.deepEqual(seen, ['/'])
  })

  it('is framed anew by the gateway, so that the instance gets one length', async () => {
    let head = ''
    const raw = await Upstream.raw((socket, text) => {
      head = text
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    front.traffic.boot += 1
    front.traffic.port = raw.port
    await exchangeRaw(
      front.plainPort,
      `${post}Connection: close, Content-Length\r\nX-A:   padded   \r\ncontent-length: 0005\r\n\r\nhello`,
    )
    assert.equal(head.match(/content-length/gi)?.length, 1)
    assert.match(head, /content-length: 5\r\n/i)
    assert.match(head, /X-A: padded\r\n/)
    raw.close()
    front.traffic.boot += 1
    front.traffic.port = upstream.port
  })

  it('behind another gets the last answer of its connection', async () => {
    const bytes = `GET /first HTTP/1.1\r\nHost: app.test\r\n\r\n`
    const answer = await exchangeRaw(front.plainPort, `${bytes}${post}Content-Length: x\r\n\r\n`)
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
    // On the full road the 400 takes the place of the answers that the connection still waits for.
    assert.deepEqual(statuses, road === Road.Fast ? ['200', '400'] : ['400'])
    await front.traffic.idle()
  })
})
