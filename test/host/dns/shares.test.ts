import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { decode, encode, streamEncode } from 'dns-packet'
import type { Packet } from 'dns-packet'
import fc from 'fast-check'
import { DnsForwarder } from '../../../src/host/dns/dns-forwarder.ts'
import { DnsServer } from '../../../src/host/dns/dns-server.ts'
import { YieldingSlots } from '../../../src/host/dns/yielding-slots.ts'
import type { SlotHolder } from '../../../src/host/dns/yielding-slots.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import { until } from '../../support/until.ts'
import { otherUser, user } from './names.ts'

describe('slots that users share', () => {
  let gone: string[] = []
  beforeEach(() => {
    gone = []
  })
  const holder = (of: string, name: string): SlotHolder => ({
    user: of,
    ip: name,
    giveWay: () => gone.push(name),
  })
  const fill = (slots: YieldingSlots, of: string, count: number): readonly SlotHolder[] => {
    const holders = Array.from({ length: count }, (_, index) => holder(of, `${of}${String(index)}`))
    for (const each of holders) assert.ok(slots.take(each))
    return holders
  }

  it('can all go to one user while nobody else asks', () => {
    const slots = new YieldingSlots({ total: 4, perInstance: 2 })
    fill(slots, 'a', 4)
    assert.equal(slots.take(holder('a', 'a5')), false)
    assert.deepEqual([slots.taken, gone], [4, []])
  })

  it('the oldest slot of the user with the most slots goes to another user, until both have the same number', () => {
    const slots = new YieldingSlots({ total: 4, perInstance: 4 })
    const [first] = fill(slots, 'a', 4)
    fill(slots, 'b', 2)
    assert.deepEqual(gone, ['a0', 'a1'])
    assert.equal(slots.take(holder('b', 'b3')), false)
    assert.equal(slots.gaveWay, 2)
    // A holder that gave way has no slot to give back.
    if (first !== undefined) slots.release(first)
    assert.equal(slots.taken, 4)
  })

  it('an instance gets no more than its own bound, however many slots are free', () => {
    const slots = new YieldingSlots({ total: 4, perInstance: 1 })
    const one = holder('a', 'a0')
    assert.ok(slots.take(one))
    assert.equal(slots.take(holder('a', 'a0')), false)
    slots.release(one)
    assert.ok(slots.take(holder('a', 'a0')))
  })

  it('there are never more in use than in total, and a user without a slot gets one', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(3), fc.boolean()))
    fc.assert(
      fc.property(steps, (taken) => {
        const slots = new YieldingSlots({ total: 4, perInstance: 3 })
        const held: SlotHolder[] = []
        for (const [of, instance, takes] of taken) {
          const mine = held.filter((each) => each.user === of)
          if (takes) {
            const ip = `${of}${String(instance)}`
            const next: SlotHolder = { user: of, ip, giveWay: () => held.splice(held.indexOf(next), 1) }
            const got = slots.take(next)
            assert.ok(got || mine.length > 0)
            if (got) held.push(next)
          } else {
            const [oldest] = mine
            if (oldest === undefined) continue
            held.splice(held.indexOf(oldest), 1)
            slots.release(oldest)
          }
          assert.equal(slots.taken, held.length)
          assert.ok(slots.taken <= 4)
        }
      }),
    )
  })
})

/**
 * The addresses of one user's instances. The server knows by the address who asks, and the loopback
 * interface has enough addresses.
 */
const starving = Array.from({ length: 72 }, (_, index) => `127.0.1.${String(index + 1)}`)
const other = '127.0.0.2'

describe('the nameserver of a host whose one user asks without end', () => {
  const closing: (() => unknown)[] = []
  let server: DnsServer
  let forwarder: DnsForwarder
  let port: number
  let unanswered = 0
  let nowMs = 0

  beforeEach(async () => {
    unanswered = 0
    nowMs = 0
    // This nameserver answers only questions for one name.
    const elsewhere = await bound('127.0.0.1')
    elsewhere.on('message', (message, from) => {
      const { id, questions } = decode(message)
      if (questions?.[0]?.name !== 'answered.example') {
        unanswered += 1
        return
      }
      const answers = [{ type: 'A' as const, name: 'answered.example', data: '192.0.2.1' }]
      elsewhere.send(encode({ type: 'response', id: id ?? 0, questions, answers }), from.port, from.address)
    })
    forwarder = new DnsForwarder({ host: '127.0.0.1', port: elsewhere.address().port, nowMs: () => nowMs })
    const ownerOf = (ip: string): string => (ip === other ? otherUser : user)
    server = new DnsServer({ address: '127.0.0.1', port: 0, names: new PrivateNames(), ownerOf, forwarder })
    port = await server.open()
  })
  afterEach(async () => {
    await server.close()
    for (const close of closing.splice(0)) await close()
  })

  async function bound(address: string): Promise<UdpSocket> {
    const socket = createSocket('udp4')
    closing.push(() => socket.close())
    socket.bind(0, address)
    await once(socket, 'listening')
    return socket
  }

  const question = (name: string, id: number): Packet => ({
    type: 'query',
    id,
    questions: [{ type: 'A', name }],
  })

  async function connection(from: string): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from })
    closing.push(() => socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('eight instances that ask a silent server do not keep another user from an answer', async () => {
    const failed: number[] = []
    for (const ip of starving.slice(0, 8)) {
      const socket = await bound(ip)
      socket.on('message', (message) => failed.push(decode(message).id ?? 0))
      for (let id = 0; id < 64; id += 1)
        socket.send(encode(question('silent.example', id)), port, '127.0.0.1')
    }
    await until('all of them are under way', () => unanswered === 8 * 64, { limitMs: 10_000 })
    const socket = await bound(other)
    socket.send(encode(question('answered.example', 7)), port, '127.0.0.1')
    const [message] = (await once(socket, 'message')) as [Buffer]
    const packet = decode(message) as unknown as Packet & { rcode: string }
    assert.deepEqual([packet.id, packet.rcode, packet.answers?.length], [7, 'NOERROR', 1])
    // The oldest question of these instances gave way, and its asker hears so at once.
    await until('it is told', () => failed.length > 0, { limitMs: 2_000 })
    assert.deepEqual(failed, [0])
  })

  it('connections of one user give way to those of another', async () => {
    const held: Socket[] = []
    for (const ip of starving) {
      while (held.length < 512 && held.filter(({ localAddress }) => localAddress === ip).length < 8)
        held.push(await connection(ip))
    }
    const closed = once(held[0] as Socket, 'close')
    const socket = await connection(other)
    socket.write(streamEncode(question('answered.example', 7)))
    await Promise.all([closed, once(socket, 'data')])
    assert.equal(held.filter((each) => each.closed).length, 1)
  })

  it("one user's questions are forwarded only at a bounded rate", async () => {
    const ask = async (ip: string, of: string): Promise<Buffer | undefined> =>
      await forwarder.ask(encode(question('answered.example', 1)), { user: of, ip, over: 'udp' })
    let answered = 0
    for (let round = 0; round < 60; round += 1) {
      const some = await Promise.all(
        Array.from({ length: 20 }, async () => await ask(starving[0] ?? '', user)),
      )
      answered += some.filter((answer) => answer !== undefined).length
    }
    assert.equal(answered, 1_000)
    assert.notEqual(await ask(other, otherUser), undefined)
    nowMs += 10
    assert.notEqual(await ask(starving[1] ?? '', user), undefined)
  })
})
