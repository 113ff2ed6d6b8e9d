import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { InstanceCheck } from '../../../src/domain/rollout/check.ts'
import { probeApplication } from '../../../src/host/check/application-probe.ts'

const host = '127.0.0.1'
const never = new AbortController().signal

describe('the look whether an application answers', function () {
  this.timeout(20_000)
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  })

  async function listening(server: Server): Promise<number> {
    servers.push(server)
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
    })
    server.listen(0, host)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const answering = async (listener: RequestListener) => await listening(createHttpServer(listener))
  /** An application that says these bytes once it was asked. */
  const saying = async (text: string) =>
    await listening(createServer((socket) => socket.once('data', () => socket.write(text))))
  const noPort = async () => {
    const port = await listening(createServer())
    servers.pop()?.close()
    return port
  }

  async function look(check: Omit<InstanceCheck, 'timeoutMs'> & { timeoutMs?: number }, privateIp = host) {
    const whole = { timeoutMs: 5_000, ...check }
    const result = await probeApplication({ host, port: check.port, privateIp, signal: never }, whole)
    return result.ok ? 'good' : result.why.replaceAll(String(check.port), 'P')
  }

  it('finds that something accepts connections, also if it closes or resets them at once', async () => {
    assert.equal(await look({ port: await listening(createServer()) }), 'good')
    assert.equal(await look({ port: await listening(createServer((socket) => socket.end())) }), 'good')
    const resetting = createServer((socket) => socket.resetAndDestroy())
    const port = await listening(resetting)
    for (let tried = 0; tried < 50; tried++) assert.equal(await look({ port }), 'good')
  })

  it('says that nothing listens', async () => {
    const port = await noPort()
    assert.equal(await look({ port }), 'nothing listens on port P')
    assert.equal(await look({ port, path: '/' }), 'nothing listens on port P')
  })

  it('tries a port again where the instance came up just now, for the time of the check', async () => {
    const port = await noPort()
    const place = { host, port, privateIp: host, signal: never, isComingUp: true }
    const nothing = { ok: false, why: `nothing listens on port ${port}` }
    const before = performance.now()
    assert.deepEqual(await probeApplication(place, { port, path: '/', timeoutMs: 300 }), nothing)
    assert.ok(performance.now() - before >= 290)
    const looking = probeApplication(place, { port, path: '/', timeoutMs: 5_000 })
    await delay(200)
    const late = createHttpServer((_, response) => void response.end())
    servers.push(late)
    late.listen(port, host)
    assert.deepEqual(await looking, { ok: true })
  })

  it('takes a connection that QEMU closes for one that nobody accepted', async () => {
    const guest = '10.64.0.2'
    for (const close of ['end', 'resetAndDestroy'] as const) {
      const port = await listening(createServer((socket) => socket[close]()))
      assert.equal(await look({ port }, guest), 'nothing listens on port P')
    }
    assert.equal(await look({ port: await listening(createServer()) }, guest), 'good')
  })

  it('asks with GET and the private address, and follows no redirect', async () => {
    const asked: unknown[] = []
    const port = await answering(({ method, url, headers }, response) => {
      asked.push([method, url, headers.host, headers['user-agent'], headers['content-length']])
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    assert.equal(await look({ port, path: '/a?b=c' }, '10.64.0.2'), 'good')
    assert.deepEqual(asked, [['GET', '/a?b=c', `10.64.0.2:${port}`, 'roost-check', undefined]])
  })

  it('takes 200 to 399 for good, or exactly the status that is wanted', async () => {
    const port = await answering(({ url }, response) => {
      response.writeHead(Number(url?.slice(1))).end()
    })
    for (const status of [200, 204, 301, 399]) assert.equal(await look({ port, path: `/${status}` }), 'good')
    assert.equal(
      await look({ port, path: '/404' }),
      'GET /404 on port P answered 404 instead of a status from 200 to 399',
    )
    assert.equal(await look({ port, path: '/404', status: 404 }), 'good')
    assert.equal(
      await look({ port, path: '/500', status: 200 }),
      'GET /500 on port P answered 500 instead of 200',
    )
  })

  it('says that an answer is late, whatever is missing of it', async () => {
    const silent = await listening(createServer())
    const late = 'GET /x on port P did not answer within 300 ms'
    assert.equal(await look({ port: silent, path: '/x', timeoutMs: 300 }), late)
    const half = await saying('HTTP/1.1 200 OK\r\nServer: x\r\n')
    assert.equal(await look({ port: half, path: '/x', timeoutMs: 300 }), late)
  })

  it('judges an answer whose body never ends, and reads little of it', async () => {
    let sent = 0
    const endless = await answering((_, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384
      }
      response.on('drain', more)
      more()
    })
    assert.equal(await look({ port: endless, path: '/' }), 'good')
    assert.ok(sent < 32 * 1024 * 1024, String(sent))
    const open = await answering((_, response) => void response.writeHead(503).write('wait'))
    const before = performance.now()
    assert.match(await look({ port: open, path: '/' }), /answered 503/)
    assert.ok(performance.now() - before < 3_000)
  })

  it('repeats nothing of an answer that is no HTTP, too long or without an end', async () => {
    const refused = async (text: string) => await look({ port: await saying(text), path: '/' })
    assert.match(
      await refused('SSH-2.0-secret\r\n'),
      /^GET \/ on port P did not answer in HTTP\/1.1 \(HPE_\w+\)$/,
    )
    const long = `HTTP/1.1 200 OK\r\nX: ${'secret'.repeat(4_000)}\r\n\r\n`
    assert.equal(await refused(long), 'GET / on port P answered with more than 16384 bytes of headers')
    assert.equal(
      await refused('HTTP/1.1 103 secret\r\n\r\n'.repeat(1_000)),
      'GET / on port P answered with more than 8 statuses below 200',
    )
    assert.equal(
      await refused('HTTP/1.1 101 secret\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      'GET / on port P answered 101 instead of a status from 200 to 399',
    )
    const port = await listening(createServer((socket) => socket.resetAndDestroy()))
    assert.equal(
      await look({ port, path: '/' }),
      'GET / on port P got no answer: the connection was closed (ECONNRESET)',
    )
  })

  it('ends when nobody waits for it', async () => {
    const port = await listening(createServer())
    const gone = new AbortController()
    const place = { host, port, privateIp: host, signal: gone.signal }
    const looking = probeApplication(place, { port, path: '/', timeoutMs: 5_000 })
    gone.abort(new Error('nobody waits'))
    await assert.rejects(looking, /nobody waits/)
  })
})
