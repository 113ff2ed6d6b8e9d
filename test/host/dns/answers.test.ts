import assert from 'node:assert/strict'
import { decode, encode } from 'dns-packet'
import type { Packet } from 'dns-packet'
import fc from 'fast-check'
import { judgeQuestion, maxQuestionBytes, refusal } from '../../../src/host/dns/dns-answers.ts'
import type { DnsVerdict } from '../../../src/host/dns/dns-answers.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import { nameOf, otherUser, user } from './names.ts'

describe('what the nameserver of a host answers', () => {
  const names = new PrivateNames()
  names.remember([
    nameOf('web', '10.64.0.2'),
    nameOf('db.blue', '10.64.0.3'),
    nameOf('secret', '10.64.0.9', otherUser),
  ])
  const judge = (message: Buffer): DnsVerdict =>
    judgeQuestion(message, { names, userUuid: user, ip: '10.64.0.2' })
  const ask = (name: string, type = 'A', more: Partial<Packet> = {}): Packet | string => {
    const question = { name, type: type as 'A' }
    const verdict = judge(encode({ type: 'query', id: 77, flags: 0x0100, questions: [question], ...more }))
    return verdict.kind === 'answer' ? decode(verdict.message) : verdict.kind
  }
  const answered = (name: string, type?: string): Packet & { rcode: string } => {
    const packet = ask(name, type)
    if (typeof packet === 'string') throw new Error(packet)
    assert.equal(packet.id, 77)
    return packet as Packet & { rcode: string }
  }
  const dataOf = (packet: Packet): unknown[] =>
    (packet.answers ?? []).map((record) => 'data' in record && record.data)

  it("an instance's name has its address, for a second, in upper and lower case", () => {
    for (const name of ['web.internal', 'WEB.Internal', 'db.blue.internal']) {
      const packet = answered(name)
      assert.equal(packet.rcode, 'NOERROR')
      assert.deepEqual(dataOf(packet), [name.startsWith('db') ? '10.64.0.3' : '10.64.0.2'])
      assert.deepEqual(
        packet.answers?.map((record) => [record.name, 'ttl' in record && record.ttl]),
        [[name, 1]],
      )
      assert.equal(packet.questions?.[0]?.name, name)
    }
  })

  it('a question for another type gets no record, but the name is said to exist', () => {
    for (const type of ['AAAA', 'MX', 'TXT', 'SRV']) {
      const packet = answered('web.internal', type)
      assert.equal(packet.rcode, 'NOERROR')
      assert.deepEqual(packet.answers, [])
      assert.equal(packet.authorities?.[0]?.type, 'SOA')
    }
    assert.equal(answered('blue.internal').rcode, 'NOERROR')
    assert.equal(answered('internal', 'SOA').rcode, 'NOERROR')
  })

  it('other names in the domain do not exist, and that is remembered for a second', () => {
    for (const name of ['nobody.internal', 'x.web.internal', 'red.internal', 'secret.internal']) {
      const packet = answered(name)
      assert.equal(packet.rcode, 'NXDOMAIN')
      const [soa] = packet.authorities ?? []
      assert.ok(soa?.type === 'SOA' && soa.ttl === 1 && soa.data.minimum === 1)
    }
  })

  it('a name without a dot is an instance’s, if an instance has it', () => {
    assert.deepEqual(dataOf(answered('web')), ['10.64.0.2'])
    assert.deepEqual(dataOf(answered('web', 'AAAA')), [])
    assert.equal(ask('secret'), 'forward')
    assert.equal(ask('com', 'NS'), 'forward')
  })

  it("an address of the user's own instance has its name, and an address of another user's has none", () => {
    assert.deepEqual(dataOf(answered('2.0.64.10.in-addr.arpa', 'PTR')), ['web.internal'])
    assert.equal(answered('9.0.64.10.in-addr.arpa', 'PTR').rcode, 'NXDOMAIN')
    assert.equal(answered('9.16.127.10.in-addr.arpa', 'PTR').rcode, 'NXDOMAIN')
    assert.equal(ask('1.0.128.10.in-addr.arpa', 'PTR'), 'forward')
    assert.equal(ask('1.0.x.10.in-addr.arpa', 'PTR'), 'forward')
    assert.equal(ask('1.1.168.192.in-addr.arpa', 'PTR'), 'forward')
  })

  it('all other questions are forwarded', () => {
    for (const name of ['example.com', 'internal.example.com', 'web.internals', '.']) {
      assert.equal(ask(name), 'forward')
    }
  })

  it('EDNS is answered with EDNS, and only then', () => {
    const opt = { type: 'OPT', name: '.', udpPayloadSize: 4096, extendedRcode: 0, ednsVersion: 0 } as const
    const asked = ask('web.internal', 'A', {
      additionals: [{ ...opt, flags: 0, flag_do: false, options: [] }],
    })
    assert.ok(typeof asked === 'object')
    const [record] = asked.additionals ?? []
    assert.ok(record?.type === 'OPT' && record.udpPayloadSize === 1_232)
    assert.deepEqual(answered('web.internal').additionals, [])
  })

  it('a message that is no question gets no answer, and one that can not be read gets an error', () => {
    const good = encode({ type: 'query', id: 1, questions: [{ type: 'A', name: 'web.internal' }] })
    assert.equal(judge(Buffer.alloc(11)).kind, 'drop')
    assert.equal(judge(encode({ type: 'response', id: 1 })).kind, 'drop')
    assert.equal(judge(Buffer.concat([good, Buffer.alloc(maxQuestionBytes)])).kind, 'drop')
    const rcodeOf = (message: Buffer): unknown => {
      const verdict = judge(message)
      return verdict.kind === 'answer' ? (verdict.message[3] ?? 0) & 15 : verdict.kind
    }
    assert.equal(rcodeOf(good.subarray(0, 20)), 1)
    const two = Buffer.from(good)
    two.writeUInt16BE(2, 4)
    assert.equal(rcodeOf(two), 1)
    const loop = Buffer.from(good)
    loop.writeUInt16BE(0xc00c, 12)
    assert.equal(rcodeOf(loop), 1)
    const update = Buffer.from(good)
    update.writeUInt16BE(5 << 11, 2)
    assert.equal(rcodeOf(update), 4)
    assert.equal(rcodeOf(encode({ type: 'query', questions: [{ type: 'AXFR', name: 'internal' }] })), 5)
    const chaos = { type: 'TXT', name: 'version.bind', class: 'CH' } as const
    assert.equal(rcodeOf(encode({ type: 'query', questions: [chaos] })), 5)
  })

  it('no bytes do harm, and no answer is much longer than its question', () => {
    const good = encode({ type: 'query', id: 1, questions: [{ type: 'ANY' as 'A', name: 'web.internal' }] })
    const spoilt = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 8 })
      .map((changes) => {
        const bytes = Buffer.from(good)
        for (const [at, value] of changes) bytes[at] = value
        return bytes
      })
    const anything = fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.oneof(spoilt, anything), (message) => {
        const verdict = judge(message)
        if (verdict.kind === 'answer') assert.ok(verdict.message.length <= message.length + 150)
        if (verdict.kind === 'forward') assert.equal((refusal(message, 'refused')[3] ?? 0) & 15, 5)
      }),
      { numRuns: 5_000 },
    )
  })
})
