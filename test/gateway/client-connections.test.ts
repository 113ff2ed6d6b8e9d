import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import fc from 'fast-check'
import { ClientConnections } from '../../src/gateway/clients/client-connections.ts'
import {
  connectionsFor,
  defaultClientLimits,
  heldBytesFor,
  heldLimits,
} from '../../src/gateway/clients/client-limits.ts'
import type { ClientLimits } from '../../src/gateway/clients/client-limits.ts'
import type { OpenConnection, ClientSocket } from '../../src/gateway/clients/client-network.ts'
import { Standing } from '../../src/gateway/clients/connection-use.ts'
import { networksOf } from '../../src/gateway/clients/source.ts'
import { openFilesOf } from '../../src/bin/gateway-room.ts'

const namesOf = (address: string): readonly string[] => networksOf(address).map(({ name }) => name)

/** An accepted connection without a network. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  destroyed = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

/** Connections by name, and what becomes of them. */
class Scene {
  readonly clients: ClientConnections
  /** The names of the connections that were told to end, in that order. */
  readonly ended: string[] = []
  readonly closedFor: string[] = []
  readonly #sockets = new Map<string, FakeSocket>()

  constructor(limits: Partial<ClientLimits>) {
    this.clients = new ClientConnections(
      { ...defaultClientLimits, endMs: 1, ...limits },
      { closed: (why) => this.closedFor.push(why), overBudget: () => undefined },
    )
  }

  /**
   * Accepts a connection over which nothing has happened for `quietMs`. Returns `open`, or the reason of the
   * refusal.
   */
  open(name: string, address: string, standing: Standing = Standing.Idle, quietMs = 60_000): string {
    const socket = new FakeSocket(address)
    const place = this.clients.take(socket as unknown as ClientSocket)
    if (typeof place === 'string') return place
    this.#sockets.set(name, socket)
    this.#use(place, { name, standing, quietMs, socket })
    return 'open'
  }

  /**
   * Accepts a connection of a trusted proxy, which then names its client or, if `client` is undefined, does
   * not.
   */
  openFromProxy(name: string, client?: string, standing: Standing = Standing.Idle): string {
    const socket = this.waitForClient(name)
    if (typeof socket === 'string') return socket
    const refusal = this.clients.settle(socket.place, client)
    if (refusal !== undefined) {
      socket.socket.destroy()
      return refusal
    }
    this.#use(socket.place, { name, standing, quietMs: 60_000, socket: socket.socket })
    return 'open'
  }

  /** Accepts a connection of a trusted proxy that says nothing yet. */
  waitForClient(name: string): { readonly place: OpenConnection; readonly socket: FakeSocket } | string {
    const socket = new FakeSocket('10.0.0.1')
    const place = this.clients.takeFromProxy(socket as unknown as ClientSocket)
    if (typeof place === 'string') return place
    this.#sockets.set(name, socket)
    return { place, socket }
  }

  close(name: string): void {
    this.#sockets.get(name)?.destroy()
  }

  #use(
    place: OpenConnection,
    use: {
      readonly name: string
      readonly standing: Standing
      readonly quietMs: number
      readonly socket: FakeSocket
    },
  ): void {
    const { name, standing, quietMs, socket } = use
    const movedAtMs = performance.now() - quietMs
    place.use = {
      standing,
      movedAtMs,
      heldBytes: 0,
      end: () => {
        this.ended.push(name)
        socket.destroy()
      },
    }
  }
}

describe('the networks that an address is in', () => {
  it('are the address itself of IPv4, however it is written', () => {
    assert.deepEqual(namesOf('192.0.2.7'), ['192.0.2.7'])
    assert.deepEqual(namesOf('::ffff:192.0.2.7'), ['192.0.2.7'])
  })

  it('are /48, /56 and /64 of IPv6, wherever its zeros are left out', () => {
    assert.deepEqual(namesOf('2001:db8:1:abcd:1:2:3:4'), [
      '2001:db8:1/48',
      '2001:db8:1:ab/56',
      '2001:db8:1:abcd/64',
    ])
    assert.deepEqual(namesOf('2001:db8::1'), ['2001:db8:0/48', '2001:db8:0:0/56', '2001:db8:0:0/64'])
    assert.deepEqual(namesOf('::1'), ['0:0:0/48', '0:0:0:0/56', '0:0:0:0/64'])
    assert.deepEqual(namesOf('fe80::1%eth0').at(-1), 'fe80:0:0:0/64')
  })
})

describe('connections of clients', () => {
  let scene: Scene

  afterEach(() => scene.clients.close())

  it('are bounded per source, and more loosely for its /56 and its /48', () => {
    scene = new Scene({ connectionsPerSource: 2 })
    const open = (address: string) => scene.open(address, address, Standing.Busy)
    assert.deepEqual(['1.0.0.1', '1.0.0.1', '1.0.0.1'].map(open), ['open', 'open', 'connections-of-source'])
    assert.equal(open('2001:db8::1'), 'open')
    assert.equal(open('2001:db8::2'), 'open')
    assert.equal(open('2001:db8::3'), 'connections-of-source')
    // A /56 may have four times as many: eight. Two of them are open.
    for (let link = 1; link <= 6; link++) assert.equal(open(`2001:db8:0:${link}::1`), 'open')
    assert.equal(open('2001:db8:0:7::1'), 'connections-of-source')
    // A /48 may have sixteen times as many: 32. Eight of them are open.
    for (let house = 1; house <= 24; house++)
      assert.equal(open(`2001:db8:0:${house.toString(16)}00::1`), 'open')
    assert.equal(open('2001:db8:0:ff00::1'), 'connections-of-source')
    assert.equal(open('2001:db8:1::1'), 'open')
  })

  it('of a source at its bound make room for its next one if one of them is idle', () => {
    scene = new Scene({ connectionsPerSource: 3 })
    scene.open('busy', '1.0.0.1', Standing.Busy)
    scene.open('silent', '1.0.0.1', Standing.Lasting)
    scene.open('idle', '1.0.0.1')
    assert.equal(scene.open('next', '1.0.0.1', Standing.Busy), 'open')
    assert.deepEqual([scene.ended, scene.closedFor], [['idle'], ['idle']])
    assert.equal(scene.open('more', '1.0.0.1'), 'connections-of-source')
  })

  it('of one source that fill the budget make room for another source, the longest idle first, then the longest silent', () => {
    scene = new Scene({ connections: 5, activeMs: 100 })
    scene.open('busy', '1.0.0.1', Standing.Busy)
    scene.open('silent', '1.0.0.1', Standing.Lasting, 30_000)
    scene.open('longer silent', '1.0.0.1', Standing.Lasting, 90_000)
    scene.open('idle', '1.0.0.1', Standing.Idle, 1_000)
    scene.open('longer idle', '1.0.0.1', Standing.Idle, 2_000)
    for (const name of ['a', 'b', 'c']) assert.equal(scene.open(name, '1.0.0.2', Standing.Busy), 'open')
    assert.deepEqual(scene.ended, ['longer idle', 'idle', 'longer silent'])
    // The second source has three of the five by now. So it gets no more, but a third source does.
    assert.equal(scene.open('d', '1.0.0.2'), 'connections')
    assert.equal(scene.open('e', '1.0.0.3'), 'open')
    assert.deepEqual(scene.closedFor, ['idle', 'idle', 'silent', 'silent'])
    assert.equal(scene.clients.all, 5)
  })

  it('over which bytes have just passed count as busy, and busy ones are closed only for a source that has fewer', () => {
    scene = new Scene({ connections: 3 })
    scene.open('moving', '1.0.0.1', Standing.Lasting, 500)
    scene.open('asked', '1.0.0.1', Standing.Busy, 100)
    scene.open('asked later', '1.0.0.1', Standing.Busy, 50)
    assert.equal(scene.open('own', '1.0.0.1'), 'connections')
    assert.equal(scene.open('first', '1.0.0.2', Standing.Busy), 'open')
    assert.deepEqual([scene.ended, scene.closedFor], [['moving'], ['busy']])
    assert.equal(scene.open('second', '1.0.0.2', Standing.Busy), 'connections')
    assert.equal(scene.open('third', '1.0.0.3', Standing.Busy), 'open')
    assert.equal(scene.open('fourth', '1.0.0.4', Standing.Busy), 'connections')
  })

  it('of a source that has few are not closed, although they are idle, while another source asks for more', () => {
    scene = new Scene({ connections: 10 })
    scene.open('few', '1.0.0.1', Standing.Idle, 600_000)
    for (let index = 0; index < 9; index++) scene.open(`own ${index}`, '1.0.0.2', Standing.Busy)
    for (let index = 0; index < 20; index++) scene.open(`more ${index}`, '1.0.0.2', Standing.Busy)
    assert.deepEqual(scene.ended, [])
  })

  it('of small networks within one larger network count together', () => {
    scene = new Scene({ connections: 10 })
    for (let link = 0; link < 8; link++) scene.open(`link ${link}`, `2001:db8:0:${link}00::1`)
    scene.open('one', '1.0.0.1', Standing.Idle, 600_000)
    scene.open('two', '1.0.0.1', Standing.Idle, 600_000)
    for (let index = 0; index < 3; index++) scene.open(`new ${index}`, `1.0.1.${index}`)
    assert.deepEqual(
      scene.ended.map((name) => name.slice(0, 4)),
      ['link', 'link', 'link'],
    )
  })

  it('that were told to end and do not end in time are closed', async () => {
    scene = new Scene({ connections: 1 })
    const socket = new FakeSocket('1.0.0.1')
    const place = scene.clients.take(socket as unknown as ClientSocket)
    assert(typeof place !== 'string')
    place.use = { standing: Standing.Idle, movedAtMs: 0, heldBytes: 0, end: () => undefined }
    const closed = new Promise((resolve) => socket.once('close', resolve))
    assert.equal(scene.open('next', '1.0.0.2'), 'open')
    await closed
    assert.equal(scene.clients.all, 1)
  })

  it('during their handshake count as idle since they were accepted', () => {
    scene = new Scene({ connections: 1 })
    const socket = new FakeSocket('1.0.0.1')
    scene.clients.take(socket as unknown as ClientSocket)
    assert.equal(scene.open('next', '1.0.0.2'), 'open')
    assert(socket.destroyed)
  })

  it('never are more than their bounds, and none is counted that has closed', () => {
    scene = new Scene({})
    const address = fc.constantFrom(
      '1.0.0.1',
      '1.0.0.2',
      '2001:db8::1',
      '2001:db8::2',
      '2001:db8:0:1::1',
      '2001:db8:0:100::1',
    )
    const standing = fc.constantFrom(...Object.values(Standing))
    const step = fc.record({ address, standing, quietMs: fc.nat(5_000), closes: fc.option(fc.nat(40)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const own = new Scene({ connections: 7, connectionsPerSource: 3 })
        const open = new Map<string, string>()
        for (const [index, { address: from, standing: as, quietMs, closes }] of steps.entries()) {
          if (own.open(String(index), from, as, quietMs) === 'open') open.set(String(index), from)
          if (closes !== null) {
            own.close(String(closes))
            open.delete(String(closes))
          }
          for (const name of own.ended) open.delete(name)
          assert.equal(own.clients.all, open.size)
          assert(open.size <= 7)
          for (const source of ['1.0.0.1', '1.0.0.2', '2001:db8::']) {
            assert(
              [...open.values()].filter((each) => each.startsWith(source) && !each.includes(':0:')).length <=
                3,
            )
          }
        }
        for (const name of open.keys()) own.close(name)
        assert.equal(own.clients.all, 0)
        own.clients.close()
      }),
    )
  })
})

describe('connections of trusted proxies', () => {
  let scene: Scene

  afterEach(() => scene.clients.close())

  it('count as connections of the clients that the proxy names', () => {
    scene = new Scene({ connectionsPerSource: 2 })
    const open = (client: string) => scene.openFromProxy(client, client, Standing.Busy)
    assert.deepEqual(['1.0.0.1', '1.0.0.1', '1.0.0.1'].map(open), ['open', 'open', 'connections-of-source'])
    assert.equal(scene.open('own', '1.0.0.1'), 'connections-of-source')
    assert.equal(open('1.0.0.2'), 'open')
    assert.equal(scene.clients.all, 3)
    // The proxy may connect by itself as if none of these were its own.
    assert.equal(scene.open('its own', '10.0.0.1'), 'open')
  })

  it('are bounded only by the bound of all if the proxy names nobody', () => {
    scene = new Scene({ connectionsPerSource: 1, connections: 5 })
    const open = (_: unknown, index: number) => scene.openFromProxy(String(index), undefined, Standing.Busy)
    const opened = Array.from({ length: 6 }, open)
    assert.deepEqual(opened, ['open', 'open', 'open', 'open', 'open', 'connections'])
    assert.equal(scene.clients.all, 5)
  })

  it('of which nobody knows the clients are not closed for a source that has many', () => {
    scene = new Scene({ connections: 10 })
    for (let index = 0; index < 5; index++) scene.openFromProxy(`proxy ${index}`)
    for (let index = 0; index < 20; index++) scene.open(`own ${index}`, '1.0.0.1', Standing.Idle)
    assert.equal(scene.ended.length, 15)
    assert(scene.ended.every((name) => name.startsWith('own')))
  })

  it('get in for the client that is named, or not, also if no place is free', () => {
    scene = new Scene({ connections: 4 })
    scene.open('one', '1.0.0.1', Standing.Idle, 600_000)
    for (let index = 0; index < 3; index++) scene.open(`many ${index}`, '1.0.0.2', Standing.Busy, 0)
    // Who has most gets no place of another one because it comes over a proxy, and others get one of its own.
    assert.equal(scene.openFromProxy('more', '1.0.0.2'), 'connections')
    assert.deepEqual(scene.ended, [])
    assert.equal(scene.openFromProxy('other', '1.0.0.3', Standing.Busy), 'open')
    assert.deepEqual(scene.ended, ['one'])
    assert.equal(scene.openFromProxy('third', '1.0.0.4', Standing.Busy), 'open')
    assert.match(scene.ended[1] ?? '', /many/)
    assert.equal(scene.clients.all, 4)
  })

  it('wait for their client beyond the bound of all, as far as there is a bound for that', () => {
    scene = new Scene({ connections: 1 })
    scene.open('busy', '1.0.0.1', Standing.Busy)
    let waiting = 0
    while (typeof scene.waitForClient(`waits ${waiting}`) !== 'string') waiting += 1
    assert.equal(waiting, 256)
    assert.deepEqual(scene.ended, [])
  })

  it('do not count any more once they have closed, before their client is named or after', () => {
    scene = new Scene({})
    scene.waitForClient('waits')
    scene.openFromProxy('named', '2001:db8::1')
    scene.openFromProxy('nameless')
    assert.equal(scene.clients.all, 3)
    for (const name of ['waits', 'named', 'nameless']) scene.close(name)
    assert.equal(scene.clients.all, 0)
  })
})

describe('the room that a process has for clients', () => {
  it('follows from the number of files that it may open, half of which are for instances', () => {
    assert.equal(
      openFilesOf(
        'Max processes  1  1  processes\nMax open files            1024                 4096                 files\n',
      ),
      1_024,
    )
    assert.equal(openFilesOf(''), 4_096)
    assert.equal(
      connectionsFor(
        openFilesOf('Max open files            unlimited            unlimited            files'),
      ),
      50_000,
    )
    assert.deepEqual([1_024, 4_096, 65_536, 1 << 20].map(connectionsFor), [384, 1_536, 32_256, 50_000])
    assert.equal(connectionsFor(16), 64)
  })

  it('is a quarter of the memory; one source may have a quarter of that, up to 256 MiB', () => {
    const mebibyte = 1 << 20
    assert.equal(heldBytesFor(2_048 * mebibyte), 512 * mebibyte)
    assert.equal(heldLimits(512 * mebibyte).heldBytesPerSource, 128 * mebibyte)
    assert.equal(heldLimits(8_192 * mebibyte).heldBytesPerSource, 256 * mebibyte)
  })
})
