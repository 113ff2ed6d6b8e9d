import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { ExecRefused } from '../../../src/host/exec/exec-session.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { startExecHost } from '../../support/exec-host.ts'
import type { ExecHost } from '../../support/exec-host.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram, Started } from '../../support/roost-program.ts'
import { settledEvents } from '../../support/settled-events.ts'
import { until } from '../../support/until.ts'

const limitMs = 20_000

describe('roost tunnel', () => {
  let api: TestApi
  let host: ExecHost
  let roost: RoostProgram
  let user: TestUser
  let uuid: string
  before(async () => {
    api = await startTestApi()
    host = await startExecHost(api)
    user = await api.addUser()
    uuid = (await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })).uuid
    await api.control.record(uuid, { state: InstanceState.Running })
    roost = await createRoostProgram({ url: api.url, token: user.token })
  })
  after(async () => {
    await roost.remove()
    await host.close()
    await api.close()
  })

  const tunnels: Started[] = []
  afterEach(async () => {
    delete host.refusal
    for (const tunnel of tunnels.splice(0)) {
      tunnel.child.kill('SIGINT')
      await tunnel.ended
    }
    await until('no instance is held awake', () => host.holds() === 0, { limitMs })
  })

  /** Starts a tunnel and returns the ports of this machine. */
  async function open(
    ...ports: readonly string[]
  ): Promise<{ readonly tunnel: Started; readonly ports: readonly number[] }> {
    const tunnel = roost.start(['tunnel', 'web', ...ports])
    tunnels.push(tunnel)
    await until('it listens', () => tunnel.out().includes('leads'), { limitMs })
    const found = [...tunnel.out().matchAll(/^127\.0\.0\.1:(\d+) leads to port \d+ of web$/gm)]
    assert.equal(found.length, ports.length)
    return { tunnel, ports: found.map(([, port]) => Number(port)) }
  }

  async function client(port: number, allowHalfOpen = true): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
    await once(socket, 'connect')
    return socket
  }

  async function echo(port: number, sent: string): Promise<string> {
    const socket = await client(port)
    socket.end(sent)
    return await text(socket)
  }

  it('carries a connection in both directions, to the end of each', async () => {
    const { ports } = await open('0:7')
    const sent = 'all of it\n'.repeat(200_000)
    assert.ok((await echo(ports[0]!, sent)) === sent)
    assert.equal(await echo(ports[0]!, ''), '')
  })

  it('delivers all of what a client sends before it goes, also after the application has ended', async () => {
    const { ports } = await open('0:7')
    const socket = await client(ports[0]!)
    const sent = 'x'.repeat(3_000_000)
    // The echo ends its side when it has seen the end of the input, and the client reads nothing until then.
    socket.pause()
    socket.end(sent)
    await once(socket, 'finish')
    assert.equal((await text(socket)).length, sent.length)
    await until('the instance is let go', () => host.holds() === 0, { limitMs })
  })

  it('holds the instance only while there are connections', async () => {
    const { ports } = await open('0:7')
    assert.equal(host.holds(), 0)
    const socket = await client(ports[0]!)
    await until('it is held', () => host.holds() === 1, { limitMs })
    socket.destroy()
    await until('it is let go', () => host.holds() === 0, { limitMs })
  })

  it('carries 50 connections at once, over several ports', async () => {
    const { ports } = await open('0:7', '0:7')
    const sockets = await Promise.all(
      Array.from({ length: 50 }, async (_, each) => await client(ports[each % 2]!)),
    )
    const answers = sockets.map(async (socket, each) => {
      socket.write(String(each))
      const [answer] = (await once(socket, 'data')) as [Buffer]
      return answer.toString('utf8')
    })
    assert.deepEqual(
      await Promise.all(answers),
      sockets.map((_, each) => String(each)),
    )
    assert.equal(host.holds(), 50)
    for (const socket of sockets) socket.destroy()
  })

  it('says of each connection that nothing listens, and goes on', async () => {
    const { tunnel, ports } = await open('0:81', '0:7')
    const socket = connect({ port: ports[0]!, host: '127.0.0.1' })
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNRESET')
    assert.equal(await echo(ports[1]!, 'on'), 'on')
    tunnel.child.kill('SIGINT')
    const { code, err } = await tunnel.ended
    assert.deepEqual([code, err], [0, 'roost: port 81: nothing listens on port 81\n'])
  })

  it('ends with open connections without a word about them', async () => {
    const { tunnel, ports } = await open('0:7')
    const socket = (await client(ports[0]!)).on('error', () => undefined)
    socket.write('x')
    await once(socket, 'data')
    tunnel.child.kill('SIGINT')
    const { code, err } = await tunnel.ended
    assert.deepEqual([code, err], [0, ''])
  })

  it('ends with a reason when the instance does not run any more', async () => {
    const { tunnel, ports } = await open('0:7')
    host.refusal = new ExecRefused('not-running', 'The instance is stopped.')
    connect({ port: ports[0]!, host: '127.0.0.1' }).on('error', () => undefined)
    const { code, err } = await tunnel.ended
    assert.deepEqual([code, err], [1, 'roost: The instance is stopped.\n'])
  })

  it('is not opened to an instance that is stopped', async () => {
    await api.control.record(uuid, { state: InstanceState.Stopped })
    const { code, out, err } = await roost.run(['tunnel', 'web', '0:7'])
    await api.control.record(uuid, { state: InstanceState.Running })
    assert.deepEqual([code, out, err], [1, '', 'roost: web is stopped. `roost start` starts it.\n'])
  })

  it('ends with a reason when the instance stops, also without a connection', async () => {
    const { tunnel } = await open('0:7')
    await api.control.record(uuid, { state: InstanceState.Stopped })
    const { code, err } = await tunnel.ended
    await api.control.record(uuid, { state: InstanceState.Running })
    assert.deepEqual([code, err], [1, 'roost: web is stopped\n'])
  })

  it('breaks off a connection whose instance is gone, and says so', async () => {
    const { tunnel, ports } = await open('0:7')
    const socket = await client(ports[0]!)
    socket.write('x')
    await once(socket, 'data')
    const broken = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>
    host.lose()
    assert.equal((await broken)[0].code, 'ECONNRESET')
    tunnel.child.kill('SIGINT')
    assert.match((await tunnel.ended).err, /the instance ended, or closed the session/)
  })

  it('refuses what is no port, and one that is taken', async () => {
    for (const wrong of ['x', '0', '7:0', '70000', '1:2:3']) {
      const { code, err } = await roost.run(['tunnel', 'web', wrong])
      assert.equal(code, 2)
      assert.match(err, /is no pair of ports/)
    }
    assert.equal((await roost.run(['tunnel', 'web', '7', '--address', 'here'])).code, 2)
    assert.equal((await roost.run(['tunnel', 'nobody', '7'])).code, 3)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const taken = await roost.run(['tunnel', 'web', `${port}:7`])
    server.close()
    assert.equal(taken.code, 1)
    assert.match(taken.err, /can not be had .* give another one: <local>:7/)
  })

  it('is told in one event for each port, however many connections there are', async () => {
    await settledEvents(api.database)
    const { events } = (
      await api.send({ path: '/v1/events?kind=instance.connected&count=1000', token: user.token })
    ).json.data
    const ports = events.map(({ facts }: { readonly facts: { readonly port: number } }) => facts.port)
    assert.deepEqual(ports.toSorted(), [7, 81])
  })
})
