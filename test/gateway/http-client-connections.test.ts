import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { HttpLimits } from '../../src/gateway/http/http-limits.ts'
import { closed } from '../support/public-gateway.ts'
import { Road, TestFront, exchangeRaw, onBothRoads, readAll, readUntil } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const get = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n'

onBothRoads('a connection of a client', (road) => {
  let front: TestFront
  let upstream: Upstream

  before(async () => {
    upstream = await Upstream.http((_request, response) => void response.end('hello'))
  })

  after(() => upstream.close())

  async function started(limits: Partial<HttpLimits> = {}): Promise<void> {
    front = await TestFront.start({ limits })
    front.traffic.port = upstream.port
  }

  afterEach(async () => {
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
  })

  async function open(): Promise<Socket> {
    const socket = connect(front.plainPort, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('over which nothing is sent ends', async () => {
    await started({ headerMs: 200 })
    assert.match(await readAll(await open()), /^(HTTP\/1\.1 408 [^]*)?$/)
  })

  it('over which a head comes too slowly, byte by byte, ends with 408', async () => {
    await started({ headerMs: 300 })
    const socket = await open()
    let at = 0
    const trickle = setInterval(() => {
      at += 1
      socket.write(get.slice(at - 1, at))
    }, 40)
    assert.match(await readAll(socket), /^HTTP\/1\.1 408 /)
    clearInterval(trickle)
    assert.equal(front.traffic.asked, 0)
  })

  it('over which nothing is sent after an answer ends', async () => {
    await started({ keepAliveMs: 100 })
    const socket = await open()
    socket.write(get)
    assert.match(await readAll(socket), /^HTTP\/1\.1 200 [^]*hello$/)
  })

  it('carries a bounded number of requests', async () => {
    await started({ maxRequestsPerConnection: 3 })
    const socket = await open()
    socket.write(get.repeat(3))
    const answers = await readAll(socket)
    assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 3)
    assert.match(answers, /connection: close/i)
  })

  // The fast road reads one request after the other, so requests that are sent ahead only wait.
  if (road === Road.Full) {
    it('may not carry too many requests ahead of their answers', async () => {
      await started({ maxPipelined: 4 })
      let answered: (() => void) | undefined
      front.traffic.answer = () =>
        new Promise((resolve) => {
          answered ??= () => resolve(undefined)
          if (front.traffic.asked > 1) resolve(undefined)
        })
      const socket = await open()
      socket.write(get.repeat(20))
      while (front.traffic.asked < 4) await new Promise((resolve) => setImmediate(resolve))
      answered?.()
      const answers = await readAll(socket)
      assert.match(answers, /HTTP\/1\.1 429 /)
      assert.ok(front.traffic.asked <= 5)
    })
  }

  if (road === Road.Fast) {
    it('has the requests that were sent ahead answered one after the other', async () => {
      await started()
      let most = 0
      front.traffic.answer = async () => {
        most = Math.max(most, front.traffic.inFlight + 1)
        await new Promise((resolve) => setImmediate(resolve))
        return undefined
      }
      const socket = await open()
      socket.write(`${get.repeat(49)}${get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`)
      const answers = await readAll(socket)
      assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 50)
      assert.equal(most, 1)
    })
  }

  it('whose client reads nothing of an answer ends', async () => {
    await started({ clientStallMs: 300 })
    const large = await Upstream.http((_request, response) => void response.end(Buffer.alloc(64 << 20)))
    front.traffic.port = large.port
    const socket = await open()
    socket.pause()
    socket.write(get)
    while (front.traffic.admitted === 0) await new Promise((resolve) => setImmediate(resolve))
    await front.traffic.idle()
    assert.equal((await front.report()).status, 499)
    socket.destroy()
    large.close()
  })

  it('of HTTP/2 that opens no stream ends', async () => {
    await started({ headerMs: 200 })
    const session = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, { rejectUnauthorized: false })
    session.on('error', () => undefined)
    await once(session, 'close')
  })

  it('of HTTP/2 that sends half a frame ends', async () => {
    await started({ headerMs: 200 })
    const socket = connectTls({ port: front.tlsPort, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined)
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00')
    await closed(socket)
  })

  it('of HTTP/2 that is idle ends', async () => {
    await started({ keepAliveMs: 200 })
    const session = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, {
      rejectUnauthorized: false,
      servername: 'app.test',
    })
    const stream = session.request({ ':path': '/', ':authority': 'app.test' })
    stream.resume()
    await once(session, 'close')
    assert.equal((await front.report()).status, 200)
  })

  it('is closed with the front, but a request under way is answered', async () => {
    await started()
    let answer: (() => void) | undefined
    const slow = await Upstream.http((_request, response) => {
      response.write('early')
      answer = () => void response.end('late')
    })
    front.traffic.port = slow.port
    const idle = await open()
    const busy = await open()
    busy.write(get)
    await readUntil(busy, (text) => text.includes('early'))
    const closing = front.front.close({ graceMs: 10_000 })
    await readAll(idle)
    answer?.()
    await readUntil(busy, (text) => text.includes('late'))
    await closing
    assert.equal(front.front.connectionCount, 0)
    slow.close()
  })

  it('of a front that retires is answered once more, and closed then', async () => {
    await started()
    const used = await open()
    used.write(get)
    assert.match(await readUntil(used, (text) => text.endsWith('hello')), /\r\nConnection: keep-alive\r\n/i)
    const fresh = await open()
    front.front.retire()
    for (const socket of [used, fresh]) {
      socket.write(get)
      assert.match(await readAll(socket), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*hello$/i)
    }
  })

  it('of HTTP/2 to a front that retires is told to go elsewhere, and what it had sent before is answered', async () => {
    await started()
    const session = connectHttp2(`https://127.0.0.1:${front.tlsPort}`, {
      rejectUnauthorized: false,
      servername: 'app.test',
    })
    await once(session, 'remoteSettings')
    front.front.retire()
    const goodbye = once(session, 'goaway')
    const gone = once(session, 'close')
    const headers = { ':path': '/', ':authority': 'app.test' }
    const answers = [session.request(headers), session.request(headers)].map(async (stream) => {
      stream.resume()
      const [answer] = (await once(stream, 'response')) as [{ readonly ':status': number }]
      return answer[':status']
    })
    assert.deepEqual(await Promise.all(answers), [200, 200])
    const anyStream = 0x7fff_ffff
    assert.deepEqual((await goodbye).slice(0, 2), [0, anyStream])
    await gone
  })

  it('speaks HTTP/1.0 if the client does', async () => {
    await started()
    const answer = await exchangeRaw(front.plainPort, 'GET / HTTP/1.0\r\nHost: app.test\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 200 [^]*hello$/)
  })
})
