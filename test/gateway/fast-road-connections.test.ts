import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { HttpLimits } from '../../src/gateway/http/http-limits.ts'
import { TestFront, readAll, readUntil } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { until } from '../support/until.ts'

const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: app.test\r\n${more}\r\n`
const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const patient = { limitMs: 50_000 }

/** Requests that the fast road leaves to the full road, with the target `/uncertain`. */
const uncertain: Readonly<Record<string, string>> = {
  'a chunked body':
    'POST /uncertain HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  'an absolute target': 'GET http://app.test/uncertain HTTP/1.1\r\nHost: other.test\r\n\r\n',
  'a Connection with two words': get('/uncertain', 'Connection: keep-alive, x\r\n'),
}

for (const fastRoad of [true, false]) {
  describe(`a connection of HTTP/1.1 ${fastRoad ? 'on the fast road' : 'on the full road alone'}`, () => {
    let front: TestFront
    let upstream: Upstream

    async function started(limits: Partial<HttpLimits> = {}): Promise<Socket> {
      front = await TestFront.start({ fastRoad, limits })
      front.traffic.port = upstream.port
      return open()
    }

    async function open(): Promise<Socket> {
      const socket = connect({ port: front.plainPort, host: '127.0.0.1', noDelay: true })
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return socket
    }

    before(async () => {
      upstream = await Upstream.http((request, response) => {
        let length = 0
        request.on('data', (chunk: Buffer) => {
          length += chunk.length
        })
        request.on('end', () => response.end(`[${request.method} ${request.url} ${length}]`))
      })
    })

    after(() => upstream.close())

    afterEach(async () => {
      await front.traffic.idle()
      assert.deepEqual(front.errors, [])
      await front.close()
    })

    it('answers twenty requests of one packet in their order', async () => {
      const socket = await started()
      const targets = Array.from({ length: 20 }, (_, index) => `/${index}`)
      socket.write(targets.map((target) => get(target)).join(''))
      const received = await readUntil(socket, (text) => text.includes('/19 '))
      assert.deepEqual(targetsOf(received), targets)
      socket.destroy()
    })

    for (const [what, bytes] of Object.entries(uncertain)) {
      it(`answers them in their order if the fifth has ${what}`, async () => {
        const socket = await started()
        const targets = Array.from({ length: 20 }, (_, index) => (index === 4 ? '/uncertain' : `/${index}`))
        socket.write(targets.map((target) => (target === '/uncertain' ? bytes : get(target))).join(''))
        const received = await readUntil(socket, (text) => text.includes('/19 '))
        assert.deepEqual(targetsOf(received), targets)
        socket.destroy()
      })
    }

    it('reads the bodies of requests that stand in a row, whatever their size', async () => {
      const socket = await started()
      const sizes = [0, 1, 70_000, 3, 1_000_000, 20_000]
      const post = (size: number, index: number): string =>
        `PUT /${index} HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`
      socket.write(sizes.map(post).join('') + uncertain['a chunked body'])
      const received = await readUntil(socket, (text) => text.includes('/uncertain '))
      const expected = [...sizes.map((size, index) => `PUT /${index} ${size}`), 'POST /uncertain 3']
      assert.deepEqual(
        [...received.matchAll(/\[(.*?)\]/g)].map((one) => one[1]),
        expected,
      )
      socket.destroy()
    })

    it('reads a request with a body whose head comes in two packets, wherever it is cut', async () => {
      const socket = await started()
      const bytes = `POST /a HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n`
      for (let cut = 1; cut < bytes.length; cut += 1) {
        socket.write(get('/before'))
        await readUntil(socket, (text) => text.includes('/before '))
        const other = await open()
        other.write(get('/before') + bytes.slice(0, cut))
        await readUntil(other, (text) => text.includes('/before '))
        other.write(bytes.slice(cut))
        other.write('5\r\nhello\r\n0\r\n\r\n')
        assert.match(await readUntil(other, (text) => text.includes('/a ')), /\[POST \/a 5\]$/)
        other.destroy()
      }
      socket.destroy()
    })

    it('ends with 408 if the second head comes too slowly, in one piece or byte by byte', async () => {
      await started({ headerMs: 300 })
      const head = get('/slow', `X: ${'x'.repeat(200)}\r\n`)
      for (const [piece, everyMs] of [
        [20, 10_000],
        [1, 40],
      ] as const) {
        const socket = await open()
        socket.write(get('/first'))
        await readUntil(socket, (text) => text.includes('/first '))
        let at = piece
        socket.write(head.slice(0, piece))
        const trickle = setInterval(() => {
          socket.write(head.slice(at, at + piece))
          at += piece
        }, everyMs)
        assert.match(await readAll(socket), /^HTTP\/1\.1 408 /)
        clearInterval(trickle)
      }
      assert.equal(front.traffic.asked, 2)
    })

    it('ends with 408 if a body stands still', async () => {
      const socket = await started({ requestBodyIdleMs: 200, lingerMs: 50 })
      socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nabc')
      assert.match(await readAll(socket), /^HTTP\/1\.1 408 /)
    })

    it('carries a body that comes slowly', async () => {
      const socket = await started({ requestBodyIdleMs: 400 })
      socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\n')
      let sent = 0
      const trickle = setInterval(() => {
        if (sent < 10) socket.write('x')
        sent += 1
      }, 60)
      assert.match(await readUntil(socket, (text) => text.includes('[')), /\[POST \/ 10\]$/)
      clearInterval(trickle)
      socket.destroy()
    })

    it('holds little of an answer that the client does not take, and loses nothing of it', async () => {
      const total = 96 << 20
      const piece = Buffer.alloc(64 << 10, 'x')
      let sent = 0
      const large = await Upstream.raw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
        const more = (): void => {
          while (sent < total) {
            sent += piece.length
            if (!socket.write(piece)) break
          }
        }
        socket.on('drain', more)
        more()
      })
      const socket = await started()
      front.traffic.port = large.port
      socket.pause()
      socket.write(get('/'))
      let before = -1
      await until(
        'the gateway takes no more',
        async () => {
          const stands = sent === before && sent > 0
          before = sent
          await new Promise((resolve) => setTimeout(resolve, 100))
          return stands
        },
        patient,
      )
      assert.ok(sent < total / 2, `${sent} bytes were sent although the client takes none`)
      let received = 0
      socket.on('data', (chunk: Buffer) => (received += chunk.length))
      socket.resume()
      await until('the rest of the answer', () => received > total, patient)
      socket.destroy()
      large.close()
    })

    it('passes on no more of an answer than the length that it said', async () => {
      const long = await Upstream.raw((socket) => socket.write(`${answer('abc')}${answer('smuggled')}`))
      const socket = await started()
      front.traffic.port = long.port
      for (let count = 0; count < 3; count += 1) {
        socket.write(get('/'))
        const received = await readUntil(socket, (text) => text.endsWith('abc'))
        assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1)
      }
      await front.traffic.idle()
      assert.equal(long.sockets.length, 3)
      socket.destroy()
      long.close()
    })

    it('breaks off an answer that is shorter than it said', async () => {
      const short = await Upstream.raw((socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
      )
      const socket = await started()
      front.traffic.port = short.port
      socket.write(get('/'))
      assert.match(await readAll(socket), /Content-Length: 9\r\n[^]*\r\n\r\nabc$/)
      short.close()
    })

    it('that the client ends after its request ends, and the request with it', async () => {
      let asked = 0
      const silent = await Upstream.raw(() => (asked += 1))
      const socket = await started()
      front.traffic.port = silent.port
      socket.write(get('/'))
      await until('the request at the instance', () => asked > 0, patient)
      socket.end()
      assert.equal(await readAll(socket), '')
      await front.traffic.idle()
      assert.equal((await front.report()).status, 499)
      silent.close()
    })

    it('that the client ends in the middle of a head or a body is ended', async () => {
      await started()
      for (const bytes of [
        'GET / HT',
        'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nabc',
      ]) {
        const socket = await open()
        socket.end(bytes)
        assert.doesNotMatch(await readAll(socket), /HTTP\/1\.1 200/)
      }
    })

    it(`carries ${fastRoad ? 100_000 : 10_000} requests`, async () => {
      const quick = await Upstream.raw((socket) => socket.write(answer('hello')))
      const count = fastRoad ? 100_000 : 10_000
      const socket = await started({ maxRequestsPerConnection: count + 1 })
      front.traffic.port = quick.port
      let left = count
      let answers = 0
      let tail = ''
      const more = (): void => {
        const batch = Math.min(20, left)
        left -= batch
        if (batch > 0) socket.write(get('/').repeat(batch))
      }
      socket.setEncoding('latin1')
      socket.on('data', (chunk: string) => {
        const text = tail + chunk
        const found = text.split('hello').length - 1
        tail = text.slice(text.lastIndexOf('hello') + 1).slice(-4)
        const before = Math.floor(answers / 20)
        answers += found
        for (let batch = before; batch < Math.floor(answers / 20); batch += 1) more()
      })
      more()
      await until('all answers', () => answers === count, patient)
      assert.equal(front.traffic.admitted, count)
      assert.ok(!fastRoad || quick.sockets.length < 10)
      socket.destroy()
      quick.close()
    }).timeout(60_000)
  })
}

function targetsOf(answers: string): (string | undefined)[] {
  return [...answers.matchAll(/\[\w+ (\S+) \d+\]/g)].map((one) => one[1])
}
