import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { once } from 'node:events'
import { UpstreamFault } from '../../src/gateway/http/request-observer.ts'
import { TestFront, exchangeRaw, onBothRoads } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const ok = 'HTTP/1.1 200 OK\r\n'

/**
 * The name of each case, the answer of the instance, after which it closes, and the fault that is reported.
 */
const answers: readonly (readonly [string, string, UpstreamFault])[] = [
  ['nothing', '', UpstreamFault.Reset],
  ['garbage', '\x00\x01\x02garbage\r\n\r\n', UpstreamFault.Malformed],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', UpstreamFault.Malformed],
  ['half a status line', 'HTTP/1.1 2', UpstreamFault.Reset],
  ['half a head', `${ok}Content-Le`, UpstreamFault.Reset],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', UpstreamFault.Malformed],
  ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n', UpstreamFault.Malformed],
  [
    'both lengths',
    `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    UpstreamFault.Malformed,
  ],
  ['two lengths', `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, UpstreamFault.Malformed],
  ['a length that is no number', `${ok}Content-Length: five\r\n\r\nhello`, UpstreamFault.Malformed],
  ['a name with a space', `${ok}X Y: 1\r\nContent-Length: 0\r\n\r\n`, UpstreamFault.Malformed],
  ['a bare CR in a value', `${ok}X: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n`, UpstreamFault.Malformed],
  ['a NUL in a value', `${ok}X: a\x00b\r\nContent-Length: 0\r\n\r\n`, UpstreamFault.Malformed],
  ['a giant field', `${ok}X: ${'a'.repeat(100_000)}\r\n\r\n`, UpstreamFault.TooLarge],
  ['endless fields', `${ok}${'X-A: b\r\n'.repeat(20_000)}`, UpstreamFault.TooLarge],
  [
    'a protocol that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    UpstreamFault.Malformed,
  ],
  [
    'endless early hints',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100),
    UpstreamFault.Malformed,
  ],
]

onBothRoads('an instance that answers with', () => {
  let front: TestFront
  let upstream: Upstream | undefined

  beforeEach(async () => {
    front = await TestFront.start({ limits: { responseHeaderMs: 500 } })
  })

  afterEach(async () => {
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream?.close()
  })

  async function answering(bytes: string, close = true): Promise<void> {
    upstream = await Upstream.raw((socket) => {
      socket.write(Buffer.from(bytes, 'latin1'))
      if (close) socket.end()
    })
    front.traffic.port = upstream.port
  }

  const request = 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n'

  for (const [what, bytes, fault] of answers) {
    it(`${what} gives 502, and is counted as ${fault}`, async () => {
      await answering(bytes)
      const answer = await exchangeRaw(front.plainPort, request)
      const last = answer.slice(answer.lastIndexOf('HTTP/1.1 '))
      assert.match(last, /^HTTP\/1\.1 502 Bad Gateway\r\n/, answer.slice(0, 300))
      assert.doesNotMatch(last, /127\.0\.0\.1|set-cookie/i)
      assert.equal((await front.report()).fault, fault)
    })
  }

  it('silence gives 504', async () => {
    await answering('', false)
    assert.match(await exchangeRaw(front.plainPort, request), /^HTTP\/1\.1 504 /)
    assert.equal((await front.report()).fault, UpstreamFault.TimedOut)
  })

  it('half an answer and then silence breaks the answer off', async () => {
    await front.close()
    front = await TestFront.start({ limits: { responseIdleMs: 200 } })
    await answering(`${ok}Content-Length: 10\r\n\r\nhello`, false)
    assert.match(await exchangeRaw(front.plainPort, request), /hello$/)
    assert.equal((await front.report()).fault, UpstreamFault.TimedOut)
  })

  it('a refused connection gives 502, which does not tell its address', async () => {
    await answering('')
    upstream?.close()
    const answer = await exchangeRaw(front.plainPort, request)
    assert.match(answer, /^HTTP\/1\.1 502 /)
    assert.doesNotMatch(answer, /ECONN|127\.0\.0/)
    assert.equal((await front.report()).fault, UpstreamFault.Refused)
  })

  it('less than it announced breaks the answer off, so that the client notices', async () => {
    await answering(`${ok}Content-Length: 10\r\n\r\nhello`)
    const answer = await exchangeRaw(front.plainPort, request)
    assert.match(answer, /hello$/)
    assert.equal((await front.report()).fault, UpstreamFault.Reset)
  })

  it('a chunked body without its end breaks the answer off', async () => {
    await answering(`${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`)
    assert.doesNotMatch(await exchangeRaw(front.plainPort, request), /\r\n0\r\n\r\n$/)
    assert.notEqual((await front.report()).fault, undefined)
  })

  it('more than it announced does not have the rest taken for another answer', async () => {
    const heads: string[] = []
    upstream = await Upstream.raw((socket, head) => {
      heads.push(head)
      socket.write(`${ok}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`)
    })
    front.traffic.port = upstream.port
    assert.match(await exchangeRaw(front.plainPort, request), /\r\n\r\nok$/)
    assert.match(await exchangeRaw(front.plainPort, request), /\r\n\r\nok$/)
    assert.equal(upstream.sockets.length, 2)
  })

  it('half a chunked body resets the stream of HTTP/2', async () => {
    await answering(`${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`)
    const session = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, {
      rejectUnauthorized: false,
      servername: 'app.test',
    })
    const stream = session.request({ ':path': '/', ':authority': 'app.test' })
    stream.resume()
    const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException]
    assert.match(error.message, /INTERNAL_ERROR/)
    session.destroy()
  })

  it('fields of its connection does not break HTTP/2', async () => {
    await answering(
      `${ok}Connection: X-Hop, close\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n`,
    )
    const session = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, {
      rejectUnauthorized: false,
      servername: 'app.test',
    })
    const stream = session.request({ ':path': '/', ':authority': 'app.test' })
    stream.resume()
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    assert.equal(headers[':status'], 200)
    assert.equal(headers['x-hop'], undefined)
    session.destroy()
  })
})
