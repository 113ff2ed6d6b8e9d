import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { HttpLimits } from '../../src/gateway/http/http-limits.ts'
import { TestFront, readUntil } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { until } from '../support/until.ts'

const get = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n'
const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const patient = { limitMs: 5_000 }

for (const fastRoad of [true, false]) {
  describe(`HTTP/1.1 ${fastRoad ? 'on the fast road' : 'on the full road alone'}`, () => {
    let front: TestFront
    let upstream: Upstream
    const clients: Socket[] = []

    async function started(limits: Partial<HttpLimits>, onHead: (socket: Socket) => void): Promise<void> {
      upstream = await Upstream.raw(onHead)
      front = await TestFront.start({ fastRoad, limits })
      front.traffic.port = upstream.port
    }

    async function open(): Promise<Socket> {
      const socket = connect(front.plainPort, '127.0.0.1')
      clients.push(socket)
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return socket
    }

    afterEach(async () => {
      for (const socket of clients.splice(0)) socket.destroy()
      await front.close()
      upstream.close()
    })

    it('does not hand on a connection to an instance that is paused', async () => {
      const body = 'x'.repeat(65_536)
      await started({}, (socket) => {
        socket.write(answer(body).slice(0, -body.length))
        setTimeout(() => socket.write(body), 100)
      })
      for (let count = 0; count < 2; count += 1) {
        const socket = await open()
        socket.write(get)
        await readUntil(socket, (text) => text.endsWith(body))
      }
    })

    it('reads the request after a body that had to wait for its instance', async () => {
      await started({}, (socket) => socket.write(answer('hello')))
      front.traffic.answer = () => new Promise((resolve) => setTimeout(resolve, 200, undefined))
      const socket = await open()
      socket.write(`PUT / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 80000\r\n\r\n${'x'.repeat(40_000)}`)
      await until('the first half', () => front.traffic.asked > 0, patient)
      socket.write('x'.repeat(40_000))
      await readUntil(socket, (text) => text.endsWith('hello'))
      socket.write(get)
      await readUntil(socket, (text) => text.endsWith('hello'))
    })

    /** Each request gets a connection of its own to the instance. */
    async function flood(count: number, limits: Partial<HttpLimits> = {}): Promise<void> {
      const large = answer('x'.repeat(16_000))
      await started(limits, (socket) => socket.write(large))
      front.traffic.answer = () => {
        front.traffic.boot += 1
        return undefined
      }
      const socket = await open()
      socket.pause()
      for (let sent = 0; sent < count; sent += 100) socket.write(get.repeat(100))
      let before = -1
      await until(
        'the gateway asks no more',
        async () => {
          const stands = front.traffic.admitted === before
          before = front.traffic.admitted
          await new Promise((resolve) => setTimeout(resolve, 300))
          return stands
        },
        { limitMs: 50_000 },
      )
    }

    // The full road refuses more than `maxPipelined` requests.
    it('asks no more while the client takes none of the answers', async () => {
      await flood(3_000)
      assert.ok(front.traffic.admitted < 1_500, `${front.traffic.admitted} of 3000 were asked`)
    })

    it('ends a connection whose client takes nothing of answers that are over', async () => {
      await flood(1_000, { keepAliveMs: 300, clientStallMs: 300 })
      await until('the end of the connection', () => front.front.connectionCount === 0, patient)
    })

    it('adds no listener to the connection of a client with every answer', async () => {
      const warnings: Error[] = []
      const note = (warning: Error): void => void warnings.push(warning)
      process.on('warning', note)
      const body = 'x'.repeat(200_000)
      await started({}, (socket) => socket.write(answer(body)))
      const socket = await open()
      for (let count = 0; count < 30; count += 1) {
        front.traffic.boot += 1
        socket.write(get)
        await readUntil(socket, (text) => text.endsWith(body))
      }
      await new Promise((resolve) => setImmediate(resolve))
      process.off('warning', note)
      assert.deepEqual(warnings, [])
    })
  })
}
