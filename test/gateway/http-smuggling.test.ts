import assert from 'node:assert/strict'
import { Road, TestFront, exchangeRaw, onBothRoads } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const post = 'POST / HTTP/1.1\r\nHost: app.test\r\n'
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: app.test\r\n\r\n'

/** The name of each case, the ambiguous bytes, and the status of the refusal: 400 if none is given. */
const refused: readonly (readonly [string, string, RegExp?])[] = [
  ['both lengths', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  [
    'both lengths, the other way',
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['two lengths', `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello${smuggled}`],
  ['one length twice', `${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
  ['a list of lengths', `${post}Content-Length: 5, 5\r\n\r\nhello`],
  ['a negative length', `${post}Content-Length: -1\r\n\r\n${smuggled}`],
  ['a length with a sign', `${post}Content-Length: +5\r\n\r\nhello`],
  ['a length in hexadecimal', `${post}Content-Length: 0x5\r\n\r\nhello`],
  ['an empty length', `${post}Content-Length:\r\n\r\n${smuggled}`],
  ['a length beyond numbers', `${post}Content-Length: 99999999999999999999\r\n\r\nx`],
  ['chunked twice', `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunked, chunked', `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, /40[0]|501/],
  ['an unknown coding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, /400|501/],
  ['gzip, chunked', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, /400|501/],
  ['chunked, then identity', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, /400|501/],
  ['a vertical tab before chunked', `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`, /400|501/],
  ['a space before the colon', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a tab in a name', `${post}Transfer\tEncoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a name with a space', `${post}X Y: 1\r\n\r\n`],
  ['an empty name', `${post}: 1\r\n\r\n`],
  ['a line without a colon', `${post}nonsense\r\n\r\n`],
  ['a folded line', `${post}X-A: 1\r\n 2\r\n\r\n`],
  ['a folded coding', `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['a leading space in the first field', `GET / HTTP/1.1\r\n Host: app.test\r\n\r\n`],
  ['bare LF after a field', `POST / HTTP/1.1\r\nHost: app.test\nContent-Length: 0\r\n\r\n`],
  ['bare LF after the request line', `GET / HTTP/1.1\nHost: app.test\r\n\r\n`],
  ['bare CR in a value', `${post}X-A: 1\rX-B: 2\r\n\r\n`],
  ['NUL in a value', `${post}X-A: 1\x002\r\n\r\n`],
  ['NUL in a name', `${post}X\x00A: 1\r\n\r\n`],
  ['NUL in the target', 'GET /\x00 HTTP/1.1\r\nHost: app.test\r\n\r\n'],
  ['a size that is no number', `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`],
  ['a negative size', `${post}Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n`],
  ['a size with 0x', `${post}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n`],
  [
    'a size beyond numbers',
    `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n`,
  ],
  ['a chunk longer than its size', `${post}Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n`],
  ['LF in a chunk line', `${post}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n`],
  ['a bare LF in the extension', `${post}Transfer-Encoding: chunked\r\n\r\n5;a\nb\r\nhello\r\n0\r\n\r\n`],
  [
    'chunked in HTTP/1.0',
    `POST / HTTP/1.0\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['no host', 'GET / HTTP/1.1\r\n\r\n'],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: app.test\r\nHost: other.test\r\n\r\n'],
  ['one host twice', 'GET / HTTP/1.1\r\nHost: app.test\r\nhost: app.test\r\n\r\n'],
  ['a host with a path', 'GET / HTTP/1.1\r\nHost: app.test/x\r\n\r\n'],
  ['a host with a user', 'GET / HTTP/1.1\r\nHost: a@app.test\r\n\r\n'],
  ['a host with a list', 'GET / HTTP/1.1\r\nHost: app.test, other.test\r\n\r\n'],
  ['an empty host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
  ['a fragment', 'GET /a#b HTTP/1.1\r\nHost: app.test\r\n\r\n'],
  ['a target without a slash', 'GET a HTTP/1.1\r\nHost: app.test\r\n\r\n'],
  ['another scheme', 'GET ftp://app.test/ HTTP/1.1\r\nHost: app.test\r\n\r\n'],
  ['a method in lower case', 'get / HTTP/1.1\r\nHost: app.test\r\n\r\n'],
  ['an unknown method', 'SMUGGLE / HTTP/1.1\r\nHost: app.test\r\n\r\n'],
  ['a version of its own', 'GET / HTTP/9.9\r\nHost: app.test\r\n\r\n'],
  ['TRACE', 'TRACE / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n', /405/],
  ['CONNECT', 'CONNECT app.test:443 HTTP/1.1\r\nHost: app.test\r\n\r\n', /405/],
  ['an unknown expectation', `${post}Expect: magic\r\nContent-Length: 1\r\n\r\nx`, /417/],
  ['a long target', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: app.test\r\n\r\n`, /414/],
  ['a large header', `GET / HTTP/1.1\r\nHost: app.test\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, /431/],
  ['many headers', `GET / HTTP/1.1\r\nHost: app.test\r\n${'A: b\r\n'.repeat(300)}\r\n`, /431/],
  ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
]

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

  for (const [what, bytes, status = /400/] of refused) {
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
