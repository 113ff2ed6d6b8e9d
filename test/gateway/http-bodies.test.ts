import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { TestFront, exchangeRaw, onBothRoads, readAll, readUntil } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const mebibyte = 1 << 20

onBothRoads('a body through the gateway', () => {
  let front: TestFront
  let upstream: Upstream | undefined

  beforeEach(async () => {
    front = await TestFront.start({
      limits: { lingerMs: 100, requestBodyIdleMs: 400, clientStallMs: 60_000 },
    })
  })

  afterEach(async () => {
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream?.close()
  })

  async function answeredBy(made: Promise<Upstream>): Promise<void> {
    upstream = await made
    front.traffic.port = upstream.port
  }

  async function open(bytes: string): Promise<Socket> {
    const socket = connect(front.plainPort, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(bytes)
    return socket
  }

  it('of known or unknown length reaches the instance as it is, trailers too', async () => {
    await answeredBy(
      Upstream.http(async (request, response) => {
        const parts: Buffer[] = []
        for await (const part of request) parts.push(part as Buffer)
        response.end(
          JSON.stringify([
            Buffer.concat(parts).toString(),
            request.headers['content-length'],
            request.trailers,
          ]),
        )
      }),
    )
    const head = 'POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n'
    const sized = await exchangeRaw(front.plainPort, `${head}Content-Length: 5\r\n\r\nhello`)
    assert.ok(sized.includes('["hello","5",{}]'), sized)
    const chunks = '3\r\nhel\r\n2;ext=1\r\nlo\r\n0\r\nX-Sum: 1\r\nHost: evil\r\n\r\n'
    const chunked = await exchangeRaw(
      front.plainPort,
      `${head}Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${chunks}`,
    )
    assert.ok(chunked.includes('["hello",null,{"x-sum":"1"}]'), chunked)
  })

  it('of an answer carries its trailers', async () => {
    await answeredBy(
      Upstream.http((_request, response) => {
        response.setHeader('Trailer', 'X-Sum')
        response.write('hello')
        response.addTrailers({ 'X-Sum': '1' })
        response.end()
      }),
    )
    const answer = await exchangeRaw(
      front.plainPort,
      'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n',
    )
    assert.match(answer, /0\r\nx-sum: 1\r\n\r\n$/i)
  })

  it('of 100 MiB passes whole, and a reader that takes nothing makes the instance wait', async () => {
    const block = Buffer.alloc(mebibyte, 'abcdefgh')
    const total = 100 * mebibyte
    let sent = 0
    await answeredBy(
      Upstream.http((_request, response) => {
        response.setHeader('Content-Length', total)
        const send = (): void => {
          while (sent < total) {
            sent += block.length
            if (!response.write(block)) return void response.once('drain', send)
          }
          response.end()
        }
        send()
      }),
    )
    const socket = await open('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n')
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    // The client does not read. So the instance fills all buffers and then has to wait.
    let before = -1
    while (sent !== before) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    assert.ok(sent < 40 * mebibyte, `${sent} bytes went out to a reader that took ${first.length}`)
    const hash = createHash('sha256')
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      hash.update(chunk)
    }
    const headEnd = first.indexOf('\r\n\r\n') + 4
    take(first.subarray(headEnd))
    socket.on('data', take)
    socket.resume()
    await once(socket, 'close')
    assert.equal(bytes, total)
    const expected = createHash('sha256')
    for (let at = 0; at < total; at += mebibyte) expected.update(block)
    assert.equal(hash.digest('hex'), expected.digest('hex'))
  })

  it('that its client does not take at once leaves the connection to the instance fit for the next request', async () => {
    // More than the gateway collects for a client, in one piece.
    const total = 100_000
    await answeredBy(Upstream.http((_request, response) => void response.end(Buffer.alloc(total, 'x'))))
    const socket = await open('')
    for (let count = 0; count < 20; count += 1) {
      socket.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n')
      let left: number | undefined
      await new Promise<void>((resolve) => {
        const take = (chunk: Buffer): void => {
          left = (left ?? total + chunk.indexOf('\r\n\r\n') + 4) - chunk.length
          if (left > 0) return
          socket.off('data', take)
          resolve()
        }
        socket.on('data', take)
      })
    }
    assert.equal(upstream?.sockets.length, 1)
    socket.destroy()
  })

  it('waits for an instance that takes nothing of it, and then reaches it whole', async () => {
    const received = createHash('sha256')
    let resume: (() => void) | undefined
    await answeredBy(
      Upstream.http((request, response) => {
        request.pause()
        resume = () => {
          request.on('data', (chunk: Buffer) => received.update(chunk))
          request.on('end', () => response.end(received.digest('hex')))
          request.resume()
        }
      }),
    )
    const total = 60 * mebibyte
    const socket = await open(
      `POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: ${total}\r\n\r\n`,
    )
    const sent = createHash('sha256')
    for (let at = 0; at < total; at += mebibyte) {
      const block = randomBytes(mebibyte)
      sent.update(block)
      socket.write(block)
    }
    let before = -1
    while (socket.writableLength !== before || resume === undefined) {
      before = socket.writableLength
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    assert.ok(socket.writableLength > 30 * mebibyte, `${socket.writableLength} bytes were left to send`)
    resume()
    assert.ok((await readAll(socket)).endsWith(`\r\n\r\n${sent.digest('hex')}`))
  })

  it('that does not come gives 408', async () => {
    await answeredBy(Upstream.http((request) => void request.resume()))
    const socket = await open('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nhalf')
    assert.match(await readAll(socket), /^HTTP\/1\.1 408 [^]*connection: close/i)
  })

  it('is asked for by the instance if the client waits for `100 Continue`', async () => {
    await answeredBy(
      Upstream.raw((socket, head) => {
        assert.match(head, /expect: 100-continue/i)
        socket.write('HTTP/1.1 100 Continue\r\n\r\n')
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
      }),
    )
    const head = 'POST / HTTP/1.1\r\nHost: app.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n'
    const socket = await open(head)
    assert.equal(
      await readUntil(socket, (text) => text.endsWith('\r\n\r\n')),
      'HTTP/1.1 100 Continue\r\n\r\n',
    )
    socket.write('hello')
    assert.match(await readUntil(socket, (text) => text.endsWith('\r\n\r\n')), /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('of any form reaches the instance whole', async () => {
    let arrived: () => void = () => undefined
    await answeredBy(
      Upstream.http(async (request, response) => {
        arrived()
        const received = createHash('sha256')
        for await (const part of request) received.update(part as Buffer)
        response.end(received.digest('hex'))
      }),
    )
    const body = randomBytes(4 * mebibyte)
    const chunks = Buffer.concat([
      Buffer.from(`${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ])
    const forms: [string, Buffer][] = [
      [`Content-Length: ${body.length}`, body],
      [`Expect: 100-continue\r\nContent-Length: ${body.length}`, body],
      ['Transfer-Encoding: chunked', chunks],
    ]
    for (const [field, bytes] of forms) {
      // The body is sent after the head has arrived, so no piece of the body is read together with the head.
      const headArrived = new Promise<void>((resolve) => (arrived = resolve))
      const socket = await open(`POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n${field}\r\n\r\n`)
      await headArrived
      socket.write(bytes)
      const answer = await readAll(socket)
      assert.ok(answer.endsWith(createHash('sha256').update(body).digest('hex')), `${field}: ${answer}`)
    }
  })

  it('is never asked for if the instance refuses it', async () => {
    await answeredBy(
      Upstream.raw((socket) =>
        socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
      ),
    )
    const head = 'POST / HTTP/1.1\r\nHost: app.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n'
    assert.match(await exchangeRaw(front.plainPort, head), /^HTTP\/1\.1 413 (?![^]*100 Continue)/)
  })

  it('may be answered before it has arrived, and the client can read that answer', async () => {
    await answeredBy(Upstream.raw((socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno')))
    const socket = await open('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 1000000\r\n\r\n')
    for (let count = 0; count < 9; count += 1) socket.write(Buffer.alloc(100_000))
    assert.match(await readAll(socket), /^HTTP\/1\.1 403 [^]*\r\n\r\nno$/)
  })

  for (const length of ['Transfer-Encoding: chunked', `Content-Length: ${16 * mebibyte}`]) {
    it(`may come long after its answer, and is then read and dropped (${length})`, async () => {
      await front.close()
      front = await TestFront.start({ limits: { lingerMs: 30_000 } })
      await answeredBy(
        Upstream.raw((socket) => socket.write('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno')),
      )
      const socket = await open(`POST / HTTP/1.1\r\nHost: app.test\r\n${length}\r\n\r\n`)
      const answer = readAll(socket)
      if (length.includes('chunked')) socket.write(`${(16 * mebibyte).toString(16)}\r\n`)
      for (let count = 0; count < 16; count += 1) {
        socket.write(Buffer.alloc(mebibyte))
        if (count === 0) await once(socket, 'data')
      }
      if (length.includes('chunked')) socket.write('\r\n0\r\n\r\n')
      assert.match(await answer, /^HTTP\/1\.1 403 [^]*\r\n\r\nno$/)
    })
  }

  it('of an event stream arrives event by event', async () => {
    let send: ((event: string) => void) | undefined
    await answeredBy(
      Upstream.http((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.flushHeaders()
        send = (event) => void response.write(event)
      }),
    )
    const socket = await open('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n')
    await readUntil(socket, (text) => text.includes('text/event-stream'))
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
      send?.(event)
      assert.ok((await readUntil(socket, (text) => text.includes(event))).includes(event))
    }
    socket.destroy()
  })

  it('comes after early hints, if the instance sends them', async () => {
    await answeredBy(
      Upstream.http((_request, response) => {
        response.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' }, () => response.end('hello'))
      }),
    )
    const answer = await exchangeRaw(
      front.plainPort,
      'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 103 [^]*link: <\/a\.css>[^]*HTTP\/1\.1 200 [^]*hello$/i)
  })

  it('ends for the instance when its client goes away', async () => {
    let closed: Promise<unknown> | undefined
    await answeredBy(
      Upstream.http((request, response) => {
        closed = new Promise((resolve) => request.once('close', resolve))
        response.write('first')
      }),
    )
    const socket = await open('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n')
    await readUntil(socket, (text) => text.includes('first'))
    socket.destroy()
    await closed
    await front.traffic.idle()
    assert.equal((await front.report()).status, 499)
  })

  it('with a broken chunk never looks complete to the instance', async () => {
    let ending: Promise<string> | undefined
    await answeredBy(
      Upstream.http((request) => {
        request.resume()
        ending = new Promise((resolve) => {
          request.on('end', () => resolve('complete'))
          request.on('error', () => resolve('broken'))
        })
      }),
    )
    const socket = await open(
      'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
    )
    while (ending === undefined) await new Promise((resolve) => setImmediate(resolve))
    socket.write('zz\r\n')
    assert.match(await readAll(socket), /^HTTP\/1\.1 400 /)
    assert.equal(await ending, 'broken')
  })
})
