import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'
import { TestFront, exchangeRaw, onBothRoads, testHost } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const ok = 'HTTP/1.1 200 OK\r\n'
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'

/**
 * Fields that HTTP/1.1 permits. The first two do harm in a plain object that is used as a map. Node's HTTP/2
 * refuses the others.
 */
const fields: readonly string[] = [
  'constructor: x',
  '__proto__: x',
  'HTTP2-Settings: x',
  'Connection: x',
  'Keep-Alive: x',
  'TE: gzip',
  'Transfer-Encoding: x',
  'Upgrade: x',
  'Content-Type: a\r\nContent-Type: b',
  'ETag: a\r\nETag: b',
]

/** The places of an answer where the instance sends the field. HTTP/1.1 permits ordinary fields at each. */
const places: Readonly<Record<string, (field: string) => string>> = {
  'its head': (field) => `${ok}${field}\r\nContent-Length: 2\r\n\r\nhi`,
  'early hints': (field) => `HTTP/1.1 103 Early Hints\r\n${field}\r\n\r\n${ok}Content-Length: 2\r\n\r\nhi`,
  'its trailer': (field) =>
    `${ok}Trailer: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n${field}\r\n\r\n`,
  'the opening of a WebSocket': (field) => `${switching}${field}\r\n\r\n`,
}

const asks: Readonly<Record<string, OutgoingHttpHeaders>> = {
  'a GET': {},
  'a body without a length': { ':method': 'POST' },
  'a WebSocket': { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https' },
}

/** An answer with such a field may break its own request. The tests check that all other requests go on. */
onBothRoads('an instance that sends a field that HTTP/2 does not permit', () => {
  let front: TestFront
  let upstream: Upstream
  let session: ClientHttp2Session
  let answer = ''

  beforeEach(async () => {
    front = await TestFront.start()
    upstream = await Upstream.raw((socket) => socket.write(answer))
    front.traffic.port = upstream.port
    session = await front.connectHttp2()
  })

  afterEach(async () => {
    session.destroy()
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream.close()
  })

  /** Resolves when the stream has closed, with an answer or with a failure. */
  async function ask(headers: OutgoingHttpHeaders): Promise<void> {
    const stream = session.request({ ':authority': testHost, ':path': '/', ...headers }, { endStream: false })
    const closed = new Promise((resolve) => stream.on('close', resolve))
    stream.on('error', () => undefined)
    stream.resume()
    if (headers[':method'] === undefined) stream.end()
    else if (headers[':method'] === 'POST') stream.end('body')
    else stream.on('response', () => stream.close())
    await closed
  }

  for (const [place, bytes] of Object.entries(places)) {
    for (const [what, headers] of Object.entries(asks)) {
      if (place.includes('WebSocket') !== what.includes('WebSocket')) continue
      it(`in ${place}, when asked for ${what}, does no harm to other requests`, async () => {
        for (const field of fields) {
          answer = bytes(field)
          front.traffic.boot += 1
          await ask(headers)
        }
        answer = `${ok}Content-Length: 2\r\n\r\nok`
        front.traffic.boot += 1
        const stream = session.request({ ':authority': testHost, ':path': '/' })
        const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
        assert.equal(head[':status'], 200)
        stream.close()
      })
    }
  }

  it('twice, as HTTP/1.1 permits, is passed on once, and the other fields with it', async () => {
    answer = `${ok}ETag: a\r\nETag: b\r\nConstructor: c\r\nContent-Length: 2\r\n\r\nok`
    const stream = session.request({ ':authority': testHost, ':path': '/' })
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    assert.equal(head[':status'], 200)
    assert.equal(head['etag'], 'a')
    assert.equal(head['constructor'], 'c')
    stream.close()
  })

  it('in a trailer has that field left out if it belongs before the body', async () => {
    answer = `${ok}Trailer: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 1\r\nSet-Cookie: a=b\r\n\r\n`
    const got = await exchangeRaw(
      front.plainPort,
      `GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: close\r\n\r\n`,
    )
    assert.match(got, /0\r\nx-sum: 1\r\n\r\n$/i)
  })
})
