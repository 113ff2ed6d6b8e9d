import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { closed } from '../support/public-gateway.ts'
import { TestFront, exchangeRaw, onBothRoads, readUntil } from '../support/gateway-http.ts'
import { DeafPort } from '../support/deaf-port.ts'
import { until } from '../support/until.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const limitMs = 30_000
const request = 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n'

async function ended(socket: Socket | undefined): Promise<void> {
  assert.ok(socket)
  if (!socket.closed) await closed(socket)
}

onBothRoads('a connection to an instance', () => {
  let front: TestFront
  let upstream: Upstream | undefined

  beforeEach(async () => {
    // No connection ends for being idle, so that tests see only the ends that they cause.
    front = await TestFront.start({ limits: { upstreamIdleMs: 600_000 } })
  })

  afterEach(async () => {
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream?.close()
  })

  async function answeredBy(made: Promise<Upstream>): Promise<Upstream> {
    upstream?.close()
    upstream = await made
    front.traffic.port = upstream.port
    return upstream
  }

  const hello = (): Promise<Upstream> => Upstream.http((_request, response) => void response.end('hello'))

  const get = async (): Promise<string> => (await exchangeRaw(front.plainPort, request)).slice(9, 12)

  it('carries one request after the other, of any client', async () => {
    const { sockets } = await answeredBy(hello())
    for (let count = 0; count < 5; count += 1) assert.equal(await get(), '200')
    assert.equal(sockets.length, 1)
  })

  it('carries a HEAD and an answer without a body like others', async () => {
    const { sockets } = await answeredBy(hello())
    const head = request.replace('GET', 'HEAD')
    for (let count = 0; count < 3; count += 1) await exchangeRaw(front.plainPort, head)
    assert.equal(await get(), '200')
    assert.equal(sockets.length, 1)
  })

  it('is not used for another boot', async () => {
    const { sockets } = await answeredBy(hello())
    await get()
    front.traffic.boot = 2
    await get()
    assert.equal(sockets.length, 2)
    await ended(sockets[0])
  })

  it('is not used for another instance at the same address', async () => {
    const { sockets } = await answeredBy(hello())
    await get()
    front.traffic.instanceUuid = 'instance-2'
    await get()
    assert.equal(sockets.length, 2)
  })

  it('ends when its boot is forgotten, and a later request has a new one', async () => {
    const { sockets } = await answeredBy(hello())
    await get()
    front.front.forget('instance-1', 2)
    assert.equal(sockets[0]?.destroyed, false)
    front.front.forget('instance-1', 1)
    await ended(sockets[0])
    assert.equal(await get(), '200')
    assert.equal(sockets.length, 2)
  })

  it('in use when its boot is forgotten ends with its answer', async () => {
    let answer: (() => void) | undefined
    const { sockets } = await answeredBy(
      Upstream.http((_request, response) => {
        answer = () => void response.end('late')
        response.write('early')
      }),
    )
    const socket = connect(front.plainPort, '127.0.0.1')
    socket.write(request)
    await readUntil(socket, (text) => text.includes('early'))
    front.front.forget('instance-1', 1)
    answer?.()
    await readUntil(socket, (text) => text.includes('late'))
    await ended(sockets[0])
  })

  it('that is closed as a request comes is replaced, once, if the request may be repeated', async () => {
    let requests = 0
    const { sockets } = await answeredBy(
      Upstream.raw((socket) => {
        requests += 1
        // The instance closes the connection when the second request comes.
        if (requests === 2) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      }),
    )
    assert.equal(await get(), '200')
    assert.equal(await get(), '200')
    assert.deepEqual([requests, sockets.length], [3, 2])
  })

  it('that is closed as a POST comes is not replaced', async () => {
    let requests = 0
    await answeredBy(
      Upstream.raw((socket) => {
        requests += 1
        if (requests === 2) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      }),
    )
    assert.equal(await get(), '200')
    const post = request.replace('GET', 'POST')
    assert.equal((await exchangeRaw(front.plainPort, post)).slice(9, 12), '502')
    assert.equal(requests, 2)
  })

  it('that is new and closed before any answer is an error, and is not replaced', async () => {
    let requests = 0
    await answeredBy(
      Upstream.raw((socket) => {
        requests += 1
        socket.destroy()
      }),
    )
    assert.equal(await get(), '502')
    assert.equal(requests, 1)
  })

  it('to an instance that was just started is tried until it listens', async () => {
    const reserved = createServer()
    reserved.listen(0, '127.0.0.1')
    await once(reserved, 'listening')
    const { port } = reserved.address() as { port: number }
    reserved.close()
    await once(reserved, 'close')
    front.traffic.fresh = true
    front.traffic.port = port
    const answer = get()
    while (front.traffic.admitted === 0) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const server = createHttpServer((_request, response) => void response.end('up'))
    upstream = await Upstream.listening(server, port)
    assert.equal(await answer, '200')
  })

  it('to an instance that was just started has the longer time also once one was accepted', async () => {
    await front.close()
    front = await TestFront.start({ limits: { connectMs: 1, freshConnectMs: limitMs } })
    const application = await DeafPort.open()
    try {
      front.traffic.fresh = true
      front.traffic.port = application.port
      assert.equal(await get(), '200')
      await application.turnDeaf()
      const answer = get()
      await until('a connection is being made', () => application.asking > 0, { limitMs })
      application.hear()
      assert.equal(await answer, '200')
    } finally {
      application.close()
    }
  })

  it('to an instance that was just started is tried for one of all that wait, until one is accepted', async () => {
    const application = await DeafPort.open()
    try {
      front.traffic.fresh = true
      front.traffic.port = application.port
      await application.turnDeaf()
      const answers = Array.from({ length: 30 }, get)
      await until('all were admitted', () => front.traffic.admitted === answers.length, { limitMs })
      await until('one is tried again', () => application.asking > 1, { limitMs })
      assert.ok(application.asking < 10, `${application.asking} were tried`)
      application.hear()
      for (const answer of answers) assert.equal(await answer, '200')
    } finally {
      application.close()
    }
  })

  it('to an instance that was just started is refused at once if one was accepted before', async () => {
    const answering = await answeredBy(
      Upstream.http((_request, response) => void response.setHeader('Connection', 'close').end('hello')),
    )
    front.traffic.fresh = true
    assert.equal(await get(), '200')
    answering.close()
    assert.equal(await get(), '502')
  })

  it('to an instance that was just started and never listens gives up at the limit', async () => {
    await front.close()
    front = await TestFront.start({ limits: { freshConnectMs: 200 } })
    const gone = await hello()
    gone.close()
    front.traffic.fresh = true
    front.traffic.port = gone.port
    assert.equal(await get(), '504')
  })

  describe('of an instance that is ended', () => {
    const post = request.replace('GET', 'POST')

    /** Ends the instance at each of the first `ends` requests, and answers the requests after them. */
    async function ending(
      ends: number,
      end: (socket: Socket) => void,
    ): Promise<{ readonly requests: number }> {
      const seen = { requests: 0 }
      await answeredBy(
        Upstream.raw((socket) => {
          seen.requests += 1
          if (seen.requests <= ends) end(socket)
          else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        }),
      )
      return seen
    }
    const vanish = (): void => front.traffic.tell('gone')
    const shutDown = (socket: Socket): void => {
      front.traffic.tell('close')
      setImmediate(() => socket.destroy())
    }

    it('has its request given to another if the host is lost, or else answers that the host was lost', async () => {
      const lose = (): void => front.traffic.tell('lost')
      const seen = await ending(1, lose)
      assert.equal(await get(), '200')
      assert.equal(seen.requests, 2)
      await ending(1, lose)
      assert.match(
        await exchangeRaw(front.plainPort, post),
        /^HTTP\/1\.1 502 [^]*The host of the application stopped answering before its answer\./,
      )
    })

    for (const [name, end] of Object.entries({ vanish, shutDown })) {
      it(`has its request given to another, once, if it may be repeated (${name})`, async () => {
        const seen = await ending(1, end)
        assert.equal(await get(), '200')
        assert.deepEqual([seen.requests, front.traffic.asked], [2, 2])
        const again = await ending(2, end)
        const page = await exchangeRaw(front.plainPort, request)
        assert.match(page, /^HTTP\/1\.1 502 [^]*The application was stopped before its answer\./)
        assert.deepEqual([again.requests, front.traffic.asked], [2, 4])
      })

      it(`does not have a POST repeated (${name})`, async () => {
        const seen = await ending(1, end)
        assert.match(
          await exchangeRaw(front.plainPort, post),
          /^HTTP\/1\.1 502 [^]*was stopped before its answer/,
        )
        assert.equal(seen.requests, 1)
      })
    }

    it('has a POST given to another instance if nothing of it was sent', async () => {
      const seen = await ending(0, vanish)
      front.traffic.goneAtOnce = 1
      assert.match(await exchangeRaw(front.plainPort, post), /^HTTP\/1\.1 200 /)
      assert.deepEqual([seen.requests, front.traffic.asked], [1, 2])
      front.traffic.goneAtOnce = 2
      assert.match(await exchangeRaw(front.plainPort, post), /^HTTP\/1\.1 502 /)
    })

    it('has no request repeated of which an answer has come', async () => {
      const seen = await ending(1, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nearly')
        setTimeout(vanish, 50)
      })
      assert.match(await exchangeRaw(front.plainPort, request), /^HTTP\/1\.1 200 [^]*early$/)
      assert.equal(seen.requests, 1)
    })

    it('gives its clients the answer that a new client gets, if there is no other instance', async () => {
      await ending(1, () => {
        front.traffic.answer = () => ({ admitted: false, reason: 'no-instance' })
        vanish()
      })
      assert.equal(await get(), '404')
    })
  })

  it('is refused beyond the limit of connections to one boot', async () => {
    await front.close()
    front = await TestFront.start({ limits: { maxConnectionsPerBoot: 1 } })
    let answer: (() => void) | undefined
    await answeredBy(
      Upstream.http((_request, response) => {
        answer = () => void response.end('late')
        response.write('early')
      }),
    )
    const socket = connect(front.plainPort, '127.0.0.1')
    socket.write(request)
    await readUntil(socket, (text) => text.includes('early'))
    assert.equal(await get(), '503')
    answer?.()
    await readUntil(socket, (text) => text.includes('late'))
  })
})
