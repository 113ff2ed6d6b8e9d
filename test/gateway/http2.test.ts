import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, createServer } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, Http2Server, ServerHttp2Stream } from 'node:http2'
import type { OutgoingHttpHeaders } from 'node:http2'
import { TestFront, fixedRoutes, routeService } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly trailers: Record<string, unknown>
  readonly body: string
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let body = ''
  let headers: Record<string, unknown> = {}
  let trailers: Record<string, unknown> = {}
  stream.on('response', (received) => {
    headers = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  stream.on('data', (chunk: Buffer) => {
    body += chunk.toString()
  })
  await once(stream, 'close')
  return { status: Number(headers[':status']), headers, trailers, body }
}

describe('a client of HTTP/2', () => {
  let front: TestFront
  let session: ClientHttp2Session
  let upstream: Upstream | undefined

  async function started(deps: Parameters<typeof TestFront.start>[0] = {}): Promise<void> {
    front = await TestFront.start({ routes: twoServices(), ...deps })
    session = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, {
      rejectUnauthorized: false,
      servername: 'app.test',
    })
    session.on('error', () => undefined)
  }

  const twoServices = () =>
    fixedRoutes(
      routeService({ domains: [{ fqdn: 'app.test' }, { fqdn: 'also.test' }] }),
      routeService({ uuid: 'service-2', domains: [{ fqdn: 'other.test' }] }),
    )

  afterEach(async () => {
    session.destroy()
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream?.close()
  })

  const ask = (headers: OutgoingHttpHeaders = {}, options = {}): ClientHttp2Stream =>
    session.request({ ':path': '/', ':authority': 'app.test', ...headers }, options)

  it('is served like any other: head, body, HEAD, no content', async () => {
    await started()
    upstream = await Upstream.http(async (request, response) => {
      let body = ''
      for await (const part of request) body += String(part)
      response.setHeader('X-Seen', `${request.method} ${request.url} ${request.headers.host} [${body}]`)
      if (request.url === '/empty') response.writeHead(204).end()
      else response.end('hello')
    })
    front.traffic.port = upstream.port
    const plain = await answerOf(ask({ ':path': '/a?b' }))
    assert.deepEqual(
      [plain.status, plain.body, plain.headers['x-seen']],
      [200, 'hello', 'GET /a?b app.test []'],
    )
    assert.equal((await answerOf(ask({ ':path': '/empty' }))).status, 204)
    assert.equal((await answerOf(ask({ ':method': 'HEAD' }))).body, '')
    const stream = ask({ ':method': 'POST' })
    stream.end('sent')
    assert.equal((await answerOf(stream)).headers['x-seen'], 'POST / app.test [sent]')
    assert.equal(front.reports[0]?.protocol, 'h2')
  })

  it('gets answers without a table for compressed fields, if it wants none', async () => {
    await started()
    upstream = await Upstream.http((_request, response) => void response.end('hello'))
    front.traffic.port = upstream.port
    const settings = { headerTableSize: 0 }
    const other = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, { rejectUnauthorized: false, settings })
    await once(other, 'localSettings')
    for (let count = 0; count < 2; count += 1) {
      const answer = await answerOf(other.request({ ':path': '/', ':authority': 'app.test' }))
      assert.deepEqual([answer.status, answer.body], [200, 'hello'])
    }
    other.destroy()
  })

  it('gets the date from the gateway if the application gives none', async () => {
    await started()
    upstream = await Upstream.http((_request, response) => {
      response.sendDate = false
      response.end()
    })
    front.traffic.port = upstream.port
    const { headers } = await answerOf(ask())
    assert.ok(Math.abs(Date.parse(String(headers['date'])) - Date.now()) < 60_000, String(headers['date']))
  })

  it('is told that it is https, by the name it used', async () => {
    await started()
    upstream = await Upstream.http((request, response) => void response.end(JSON.stringify(request.headers)))
    front.traffic.port = upstream.port
    const headers = JSON.parse((await answerOf(ask())).body) as Record<string, string>
    assert.equal(headers['x-forwarded-proto'], 'https')
    assert.equal(headers['forwarded'], 'for=127.0.0.1;host="app.test";proto=https')
  })

  it('is sent elsewhere if it names another service than in its handshake', async () => {
    await started()
    upstream = await Upstream.http((_request, response) => void response.end())
    front.traffic.port = upstream.port
    assert.equal((await answerOf(ask({ ':authority': 'other.test' }))).status, 421)
    assert.equal((await answerOf(ask({ ':authority': 'also.test' }))).status, 200)
    assert.equal((await answerOf(ask({ ':authority': 'nobody.test' }))).status, 404)
  })

  it('that names two hosts is refused', async () => {
    await started()
    assert.equal((await answerOf(ask({ host: 'other.test' }))).status, 400)
  })

  it('with a large header is refused', async () => {
    await started()
    const { status, body } = await answerOf(ask({ 'x-a': 'a'.repeat(20_000) }))
    assert.equal(status, 431)
    assert.match(body, /has more than 16384 bytes or 200 fields/)
  })

  it('that resets streams without end loses its connection', async () => {
    await started({ limits: { maxResets: 20 } })
    upstream = await Upstream.raw(() => undefined)
    front.traffic.port = upstream.port
    let ended = false
    session.on('close', () => {
      ended = true
    })
    await once(session, 'remoteSettings')
    for (let round = 0; round < 100 && !ended; round += 1) {
      for (let count = 0; count < 10 && !session.destroyed; count += 1) {
        const stream = ask()
        stream.on('error', () => undefined)
        stream.close(8)
      }
      if (!session.destroyed) await new Promise((resolve) => session.ping(resolve))
    }
    assert.ok(ended)
    assert.ok(front.traffic.asked < 100, `${front.traffic.asked} requests were made`)
  })

  it('that goes away takes its requests with it', async () => {
    await started()
    let closed: Promise<unknown> | undefined
    let asked: (() => void) | undefined
    const arrived = new Promise<void>((resolve) => {
      asked = resolve
    })
    upstream = await Upstream.http((request) => {
      closed = new Promise((resolve) => request.once('close', resolve))
      asked?.()
    })
    front.traffic.port = upstream.port
    ask().on('error', () => undefined)
    await arrived
    session.destroy()
    await closed
    assert.equal((await front.report()).status, 499)
  })

  describe('that speaks gRPC', () => {
    const grpc = {
      ':method': 'POST',
      ':path': '/echo.Echo/Say',
      'content-type': 'application/grpc',
      te: 'trailers',
    }
    let sessions = 0

    async function grpcServer(
      onStream: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void,
    ) {
      const server: Http2Server = createServer()
      server.on('session', () => {
        sessions += 1
      })
      server.on('stream', (stream, headers) => {
        stream.on('error', () => undefined)
        onStream(stream, headers)
      })
      upstream = await Upstream.listening(server)
      front.traffic.port = upstream.port
    }

    beforeEach(async () => {
      sessions = 0
      await started()
    })

    it('gets the trailers of its call', async () => {
      await grpcServer((stream, headers) => {
        assert.equal(headers['te'], 'trailers')
        assert.equal(headers[':authority'], 'app.test')
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }))
        stream.pipe(stream)
      })
      for (const text of ['first', 'second']) {
        const stream = ask(grpc)
        stream.end(text)
        const answer = await answerOf(stream)
        assert.deepEqual([answer.status, answer.body], [200, text])
        assert.equal(answer.trailers['grpc-status'], '0')
        assert.equal(answer.trailers['grpc-message'], 'fine')
      }
      assert.equal(sessions, 1)
      assert.equal(front.reports[0]?.protocol, 'grpc')
    })

    it('gets an answer of trailers alone', async () => {
      await grpcServer((stream) => {
        stream.resume()
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' },
          { endStream: true },
        )
      })
      const stream = ask(grpc)
      stream.end('x')
      const answer = await answerOf(stream)
      assert.equal(answer.headers['grpc-status'] ?? answer.trailers['grpc-status'], '12')
    })

    it('speaks in both directions at once', async () => {
      await grpcServer((stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
        stream.on('data', (chunk: Buffer) => void stream.write(chunk))
        stream.on('end', () => stream.end())
      })
      const stream = ask(grpc)
      await once(stream, 'response')
      for (const text of ['ping', 'pong']) {
        stream.write(text)
        assert.equal(String(((await once(stream, 'data')) as [Buffer])[0]), text)
      }
      stream.end()
      stream.resume()
      const [trailers] = (await once(stream, 'trailers')) as [Record<string, unknown>]
      assert.equal(trailers['grpc-status'], '0')
    })

    it('cancels its call at the instance', async () => {
      let code: Promise<number> | undefined
      let arrived: (() => void) | undefined
      const called = new Promise<void>((resolve) => {
        arrived = resolve
      })
      await grpcServer((stream) => {
        code = new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)))
        arrived?.()
      })
      const stream = ask(grpc)
      stream.on('error', () => undefined)
      await called
      stream.close(8)
      assert.equal(await code, 8)
    })

    it('gets 502 from an instance that speaks no HTTP/2', async () => {
      upstream = await Upstream.http((_request, response) => void response.end('no'))
      front.traffic.port = upstream.port
      const stream = ask(grpc)
      stream.end('x')
      assert.equal((await answerOf(stream)).status, 502)
    })
  })
})
