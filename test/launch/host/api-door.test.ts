import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { ApiDoor } from '../../../src/launch/host/api-door.ts'
import { readHostAndPort } from '../../../src/domain/host-and-port.ts'
import { freePort } from '../../../src/primitives/free-ports.ts'
import { until } from '../../support/until.ts'

const limitMs = 10_000

/** A server that says its name to whoever connects, and echoes what it gets. */
class NamedServer {
  readonly #server: Server
  readonly sockets = new Set<Socket>()
  /** Whether looks are answered. A process that hangs still takes connections. */
  isAnswering = true
  address = ''

  constructor(name: string) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => this.sockets.delete(socket))
      socket.write(`${name}\n`)
      socket.pipe(socket)
    })
  }

  async listen(address = '127.0.0.1:0'): Promise<this> {
    const { host, port } = new URL(`tcp://${address}`)
    this.#server.listen(Number(port), host.split(':')[0])
    await once(this.#server, 'listening')
    this.address = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  /** Ends as a process does that is killed. */
  die(): void {
    this.isAnswering = false
    this.#server.close()
    for (const socket of this.sockets) socket.resetAndDestroy()
  }
}

describe('the door to the API', () => {
  let one: NamedServer
  let two: NamedServer
  let door: ApiDoor
  let known: readonly string[]
  let kept: (readonly string[])[]
  let moves: string[]
  const sockets: Socket[] = []
  beforeEach(async () => {
    one = await new NamedServer('one').listen()
    two = await new NamedServer('two').listen()
    known = [one.address, two.address]
    kept = []
    moves = []
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await door.close()
    one.die()
    two.die()
  })

  async function open(addresses: readonly string[]): Promise<void> {
    door = await ApiDoor.open({
      addresses,
      async look(address, signal) {
        const server = [one, two].find((each) => each.address === address)
        if (server?.isAnswering === true) return known
        // Neither an answer nor an error, until the time is over.
        await once(signal, 'abort')
        throw new Error('it does not answer')
      },
      onAddresses: async (found) => void kept.push(await Promise.resolve(found)),
      onMoved: (address) => moves.push(address),
    })
  }

  function enter({ allowHalfOpen = false } = {}): Socket {
    const { host, port } = readHostAndPort(door.address)!
    const socket = connect({ host, port: port!, allowHalfOpen })
    socket.on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
  /** The name of the server to which a new connection leads. */
  async function whoAnswers(): Promise<string> {
    const socket = enter()
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return first.toString().trim()
  }

  it('passes bytes as they are, and each end of a connection by itself', async () => {
    await open([one.address])
    const socket = enter({ allowHalfOpen: true })
    socket.end('hello')
    assert.equal(await text(socket), 'one\nhello')
  })

  it('learns where the other processes are, and keeps that', async () => {
    await open([one.address])
    await until('it knows both', () => kept.length > 0, { limitMs })
    assert.deepEqual(kept, [[...known].sort()])
    assert.deepEqual(moves, [])
  })

  it('leads to another process at once when one is killed', async () => {
    await open(known)
    const first = enter()
    await once(first, 'data')
    one.die()
    await once(first, 'close')
    assert.equal(await whoAnswers(), 'two')
    assert.deepEqual(moves, [two.address])
  })

  it('leaves a process that hangs, and ends the connections to it', async () => {
    await open(known)
    const first = enter()
    await once(first, 'data')
    one.isAnswering = false
    await once(first, 'close')
    assert.equal(await whoAnswers(), 'two')
    assert.deepEqual(moves, [two.address])
  })

  it('stays where it is when the other process comes back', async () => {
    await open(known)
    one.isAnswering = false
    await until('it has moved', () => moves.length > 0, { limitMs })
    one.isAnswering = true
    const socket = enter()
    await once(socket, 'data')
    const looks = kept.length
    known = [...known, `127.0.0.1:${await freePort()}`]
    await until('it has looked again', () => kept.length > looks, { limitMs })
    assert.deepEqual([socket.destroyed, moves], [false, [two.address]])
  })

  it('ends a connection when no process answers, and serves again when one does', async () => {
    await open(known)
    one.die()
    two.die()
    await once(enter(), 'close')
    one = await new NamedServer('one again').listen(one.address)
    assert.equal(await whoAnswers(), 'one again')
  })
})
