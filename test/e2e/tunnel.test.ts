import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { runInstance, viewOf } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { untilAsleep } from '../support/published-instance.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram, Started } from '../support/roost-program.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000

async function bodyAt(port: number, agent?: Agent): Promise<string> {
  const sent = request({ host: '127.0.0.1', port, ...(agent !== undefined && { agent }) }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return await text(answer)
}

/** An echo, and HTTP at one address each. */
const script = `
own=$(ip -4 addr show eth0 | sed -n 's,.*inet \\([0-9.]*\\)/.*,\\1,p')
nc -ll -p 7 -e cat &
mkdir -p /www; echo served > /www/index.html
httpd -f -p $own:81 -h /www &
exec httpd -f -p 127.0.0.1:80 -h /www
`

describe('a tunnel to an instance', () => {
  let stack: Stack
  let box: InstanceView
  let roost: RoostProgram
  before(async () => {
    stack = await sharedStack()
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    box = await runInstance(stack.api, { name: 'tunnel-box', image: 'busybox', args: ['sh', '-c', script] })
  })
  const tunnels: Started[] = []
  afterEach(async () => {
    for (const tunnel of tunnels.splice(0)) {
      tunnel.child.kill('SIGINT')
      await tunnel.ended
    }
  })
  after(async () => {
    await roost?.remove()
    if (box !== undefined) await stack.api.one('deleteInstances', { object: box.uuid })
  })

  async function open(
    name: string,
    ...ports: readonly number[]
  ): Promise<{ readonly tunnel: Started; readonly at: readonly number[] }> {
    const tunnel = roost.start(['tunnel', name, ...ports.map((port) => `0:${String(port)}`)])
    tunnels.push(tunnel)
    await until('it listens', () => tunnel.out().includes('leads'), { limitMs })
    const at = [...tunnel.out().matchAll(/^127\.0\.0\.1:(\d+) leads/gm)].map(([, port]) => Number(port))
    return { tunnel, at }
  }

  async function client(port: number): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('carries megabytes and the ends of both directions', async () => {
    const { at, tunnel } = await open('tunnel-box', 7)
    const isServed = async () =>
      (await roost.run(['exec', 'tunnel-box', '--', 'nc', '127.0.0.1', '7'])).code === 0
    await until('the application listens', isServed, { limitMs })
    const sent = 'all of it\n'.repeat(300_000)
    const socket = await client(at[0]!)
    socket.end(sent)
    const came = await text(socket).catch(String)
    tunnel.child.kill('SIGINT')
    const { err } = await tunnel.ended
    assert.ok(came === sent, `${String(came.length)} characters came back: ${came.slice(0, 60)} ${err}`)
  })

  it('leads to an application at loopback alone, and to one at the address of the instance alone', async () => {
    const { at } = await open('tunnel-box', 80, 81)
    for (const port of at) assert.equal(await bodyAt(port), 'served\n')
  })

  it('goes on in one direction when the application has ended the other one', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'roost-tunnel-'))
    const program = path.join(directory, 'half-close')
    const source = path.join(import.meta.dirname, 'half-close.c')
    execFileSync('musl-gcc', ['-static', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program, source])
    assert.equal((await roost.run(['cp', program, 'tunnel-box:/half-close'])).code, 0)
    rmSync(directory, { recursive: true })
    const running = roost.start(['exec', 'tunnel-box', '--', '/half-close', '9'])
    await until('it listens', () => running.out().includes('ready'), { limitMs })
    const { at } = await open('tunnel-box', 9)
    const socket = await client(at[0]!)
    assert.equal(await text(socket), 'first\n')
    socket.write('x'.repeat(1_000_000))
    socket.end('end')
    const { code, out } = await running.ended
    assert.deepEqual([code, out], [0, 'ready\n1000003\n'])
  })

  it('carries 20 connections that stay open, and requests over them', async () => {
    const { at } = await open('tunnel-box', 7, 80)
    const pool = await Promise.all(Array.from({ length: 20 }, async () => await client(at[0]!)))
    for (const round of [1, 2, 3]) {
      const answers = pool.map(async (socket, each) => {
        socket.write(`${String(round)}/${String(each)}`)
        const [bytes] = (await once(socket, 'data')) as [Buffer]
        return bytes.toString('utf8')
      })
      assert.deepEqual(
        await Promise.all(answers),
        pool.map((_, each) => `${String(round)}/${String(each)}`),
      )
    }
    const agent = new Agent({ maxSockets: 10 })
    const bodies = Array.from({ length: 40 }, async () => await bodyAt(at[1]!, agent))
    assert.deepEqual(new Set(await Promise.all(bodies)), new Set(['served\n']))
    for (const socket of pool) socket.destroy()
    agent.destroy()
  })

  it('refuses more connections than a guest takes, and takes more when some have ended', async () => {
    const { tunnel, at } = await open('tunnel-box', 7)
    // The connection is reset where it is refused.
    const echoes = async (socket: Socket) => {
      socket.write('x')
      return await Promise.race([
        once(socket, 'data').then(() => true),
        once(socket, 'close').then(() => false),
      ]).catch(() => false)
    }
    const clients: Socket[] = []
    // One after the other: `nc` lets two wait to be accepted, and those beyond try again ever more rarely.
    for (let number = 1; number <= 70; number++) {
      const socket = await client(at[0]!)
      clients.push(socket)
      assert.equal(await echoes(socket), number <= 64, `connection ${number}`)
    }
    for (const socket of clients) socket.destroy()
    await until('there is room', async () => await echoes(await client(at[0]!)), {
      limitMs,
    })
    tunnel.child.kill('SIGINT')
    assert.match(
      (await tunnel.ended).err,
      /port 7: an instance has at most 64 connections of tunnels at a time/,
    )
  })

  it('says that nothing listens', async () => {
    const { tunnel, at } = await open('tunnel-box', 4321)
    const socket = await client(at[0]!)
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNRESET')
    tunnel.child.kill('SIGINT')
    assert.equal((await tunnel.ended).err, 'roost: port 4321: nothing listens on port 4321\n')
  })

  it('lets the instance sleep while it has no connection, and a connection wakes it', async () => {
    const { uuid } = await runInstance(stack.api, {
      name: 'tunnel-sleeper',
      image: 'busybox',
      args: ['nc', '-ll', '-p', '7', '-e', 'cat'],
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
    })
    try {
      const { tunnel, at } = await open('tunnel-sleeper', 7)
      await untilAsleep(stack, uuid)
      const socket = await client(at[0]!)
      socket.write('awake')
      assert.equal(String((await once(socket, 'data'))[0]), 'awake')
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      assert.equal((await viewOf(stack.api, uuid)).state, 'running')
      socket.write('still')
      assert.equal(String((await once(socket, 'data'))[0]), 'still')
      socket.end()
      await untilAsleep(stack, uuid)
      await stack.api.one('stopInstances', { object: uuid, body: { force: true } })
      const { code, err } = await tunnel.ended
      assert.deepEqual([code, err], [1, 'roost: tunnel-sleeper is stopped\n'])
    } finally {
      await stack.api.one('deleteInstances', { object: uuid })
    }
  })
})
