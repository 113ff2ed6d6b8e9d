import assert from 'node:assert/strict'
import { decode, encode } from 'dns-packet'
import { judgeQuestion } from '../../../src/host/dns/dns-answers.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import { nameOf, otherUser, user } from './names.ts'

describe('a name without a dot', () => {
  const addresses = {
    'web.shop': '10.64.0.2',
    'db.shop': '10.64.0.3',
    'db.blog': '10.64.0.4',
    'web-2.web.shop': '10.64.0.5',
    'web-3.web.shop': '10.64.0.6',
    db: '10.64.0.7',
    alone: '10.64.0.8',
  }
  let names: PrivateNames
  beforeEach(() => {
    names = new PrivateNames()
    names.remember(Object.entries(addresses).map(([name, ip]) => nameOf(name, ip)))
    names.remember([nameOf('secret.shop', '10.64.0.20', otherUser)])
  })
  const ask = (
    asker: keyof typeof addresses,
    name: string,
    { id = 0, type = 'A' }: { readonly id?: number; readonly type?: 'A' | 'AAAA' } = {},
  ) => {
    const message = encode({ type: 'query', id, flags: 0x0100, questions: [{ name, type }] })
    const from = { names, userUuid: user, ip: addresses[asker] }
    const verdict = judgeQuestion(message, from)
    if (verdict.kind !== 'answer') return verdict.kind
    assert.ok(verdict.message.length <= 512, `${verdict.message.length} bytes`)
    return (decode(verdict.message).answers ?? []).map((record) => 'data' in record && record.data)
  }

  it('is that of the instance beside the asker, before that of an instance with just this name', () => {
    assert.deepEqual(ask('web.shop', 'db'), ['10.64.0.3'])
    assert.deepEqual(ask('db.blog', 'db'), ['10.64.0.4'])
    assert.deepEqual(ask('alone', 'db'), ['10.64.0.7'])
    assert.deepEqual(ask('web.shop', 'alone'), ['10.64.0.8'])
    assert.deepEqual(ask('web.shop', 'DB'), ['10.64.0.3'])
  })

  it('is found by the replicas of a service, too', () => {
    assert.deepEqual(ask('web-2.web.shop', 'db'), ['10.64.0.3'])
    assert.deepEqual(ask('web-2.web.shop', 'web-3'), ['10.64.0.6'])
  })

  it('has the addresses of all replicas, each of them first by turns', () => {
    const all = ['10.64.0.2', '10.64.0.5', '10.64.0.6']
    assert.deepEqual(ask('db.shop', 'web'), all)
    assert.deepEqual(ask('db.shop', 'web', { id: 1 }), ['10.64.0.5', '10.64.0.6', '10.64.0.2'])
    assert.deepEqual(ask('db.shop', 'web', { type: 'AAAA' }), [])
    names.apply({ kind: 'gone', what: 'name', id: 'instance at 10.64.0.5' })
    assert.deepEqual(ask('db.shop', 'web'), ['10.64.0.2', '10.64.0.6'])
  })

  it('has five addresses at most, so that its answer fits into a datagram', () => {
    const label = 'l'.repeat(63)
    const more = Array.from({ length: 20 }, (_, at) => nameOf(`r${at}.${label}.shop`, `10.64.1.${at + 1}`))
    names.remember(more)
    assert.equal(ask('web.shop', label).length, 5)
  })

  it("never is that of another user's instance, and is asked elsewhere if nothing has it", () => {
    assert.equal(ask('web.shop', 'secret'), 'forward')
    assert.equal(ask('web.shop', 'nobody'), 'forward')
  })
})
