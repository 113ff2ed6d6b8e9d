import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { readCertainHead } from '../../src/gateway/http/http1/request-reader.ts'
import { ambiguousRequests, post, smuggled } from '../support/ambiguous-requests.ts'
import { TestFront, exchangeRaw, readAll, readUntil } from '../support/gateway-http.ts'
import { RecordingUpstream } from '../support/recording-upstream.ts'

const first = 'GET /first HTTP/1.1\r\nHost: app.test\r\n\r\n'
const chunked = `${post}Transfer-Encoding: chunked\r\n`

/** The families of request smuggling that the table of ambiguous requests lacks. All are refused. */
const families: readonly (readonly [string, string, RegExp?])[] = [
  ['CL.TE', `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['TE.CL', `${chunked}Content-Length: 4\r\n\r\n2a\r\n${smuggled}\r\n0\r\n\r\n`],
  ['TE.TE', `${chunked}Transfer-Encoding: x\r\nContent-Length: 4\r\n\r\n2a\r\n${smuggled}\r\n0\r\n\r\n`],
  ['TE.0', `OPTIONS / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: x\r\n\r\n${smuggled}`, /400|501/],
  ['an extension with a bare LF', `${chunked}\r\n2;\nxx\r\n4c\r\n0\r\n\r\n${smuggled}`],
  ['an extension with a bare CR', `${chunked}\r\n2;\rxx\r\n4c\r\n0\r\n\r\n${smuggled}`],
  ['a folded length', `${post}Content-Length: 0\r\n ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a length after NUL', `${post}X: \x00\r\nContent-Length: 0\r\n\r\n${smuggled}`],
  ['a head that ends with bare LFs', `GET / HTTP/1.1\r\nHost: app.test\r\nX: y\n\n${smuggled}`],
]

/** Well-formed requests that some readers end elsewhere. The instance gets these, and no others. */
const wellFormed: readonly (readonly [string, string, readonly string[]])[] = [
  ['CL.0', `${post}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`, ['POST /']],
  [
    'a body of a GET',
    `GET / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ['GET /'],
  ],
  [
    'a body of a HEAD',
    `HEAD / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ['HEAD /'],
  ],
  ['a length with zeros', `${post}Content-Length: 000${smuggled.length}\r\n\r\n${smuggled}`, ['POST /']],
  ['a chunk', `${chunked}\r\n${smuggled.length.toString(16)};a=b\r\n${smuggled}\r\n0\r\n\r\n`, ['POST /']],
  ['an absolute target', 'GET http://app.test/abs HTTP/1.1\r\nHost: other.test\r\n\r\n', ['GET /abs']],
]

/** Where on the connection the bytes come. */
const places: Readonly<Record<string, (port: number, bytes: Buffer) => Promise<string>>> = {
  'as the first request': exchangeRaw,
  'behind an answer of the fast road': async (port, bytes) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(first)
    const before = await readUntil(socket, (text) => text.endsWith('reached'))
    socket.write(bytes)
    return before + (await readAll(socket))
  },
  'in one packet with a request of the fast road': async (port, bytes) =>
    exchangeRaw(port, Buffer.concat([Buffer.from(first), bytes])),
}

describe('a smuggled request', () => {
  let front: TestFront
  let upstream: RecordingUpstream

  before(async () => {
    assert.notEqual(typeof readCertainHead(Buffer.from(first), defaultHttpLimits), 'string')
    upstream = await RecordingUpstream.start()
    front = await TestFront.start({ limits: { lingerMs: 50 } })
    front.traffic.port = upstream.port
  })

  after(async () => {
    await front.close()
    upstream.close()
  })

  afterEach(async () => {
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    front.traffic.boot += 1
    upstream.reset()
  })

  for (const [place, send] of Object.entries(places)) {
    const isFirst = send === exchangeRaw
    for (const [what, bytes, status = /400/] of [...families, ...ambiguousRequests]) {
      it(`is not passed on by ${what}, ${place}`, async () => {
        const answers = await send(front.plainPort, Buffer.from(bytes, 'latin1'))
        const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map((one) => one[1] ?? '')
        assert.equal(statuses.length, isFirst ? 1 : 2, answers)
        if (!isFirst) assert.equal(statuses.shift(), '200')
        assert.match(statuses[0] ?? '', status)
        const complete = upstream.requests.filter(({ isComplete }) => isComplete)
        assert.deepEqual(
          complete.map(({ target }) => target),
          isFirst ? [] : ['/first'],
        )
        assert.ok(!upstream.received.join('').includes('/smuggled'), upstream.received.join(''))
      })
    }

    for (const [what, bytes, expected] of wellFormed) {
      it(`is not made of ${what}, ${place}`, async () => {
        const last = 'GET /last HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n'
        const answers = await send(front.plainPort, Buffer.from(bytes + last, 'latin1'))
        const wanted = [...(isFirst ? [] : ['GET /first']), ...expected, 'GET /last']
        assert.deepEqual(
          upstream.requests.map(({ method, target }) => `${method} ${target}`).toSorted(),
          wanted.toSorted(),
        )
        assert.equal(answers.match(/HTTP\/1\.1 200 /g)?.length, wanted.length, answers)
        for (const { fields, isComplete } of upstream.requests) {
          assert.ok(isComplete)
          assert.deepEqual(fields.slice(0, 2), ['Host', 'app.test'])
        }
      })
    }
  }
})
