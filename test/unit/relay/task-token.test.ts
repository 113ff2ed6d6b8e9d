import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TaskTokens } from '../../../src/relay/task-token.ts'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 })
const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const hostId = fc.string({ unit: 'binary' })

describe('a task token', () => {
  it('is taken back from the host that got it, by everybody with the same key', () => {
    fc.assert(
      fc.property(key, hostId, bytes, (key, hostId, token) => {
        const wrapped = new TaskTokens(key).wrap(hostId, token)
        assert.deepEqual(new TaskTokens(key).unwrap(hostId, wrapped), Buffer.from(token))
      }),
    )
  })

  it('is not taken from another host, nor with another key, nor if one bit is changed', () => {
    fc.assert(
      fc.property(key, hostId, hostId, bytes, fc.nat(), (key, hostId, otherId, token, place) => {
        fc.pre(hostId !== otherId)
        const tokens = new TaskTokens(key)
        const wrapped = tokens.wrap(hostId, token)
        assert.equal(tokens.unwrap(otherId, wrapped), undefined)
        const otherKey = Uint8Array.from(key, (byte, index) => (index === 0 ? byte ^ 1 : byte))
        assert.equal(new TaskTokens(otherKey).unwrap(hostId, wrapped), undefined)
        const bit = place % (wrapped.length * 8)
        wrapped[bit >> 3]! ^= 1 << (bit & 7)
        assert.equal(tokens.unwrap(hostId, wrapped), undefined)
      }),
    )
  })

  it('of one host is not one of another whose id is the beginning or the continuation of its id', () => {
    const tokens = new TaskTokens(Buffer.alloc(32, 1))
    const wrapped = tokens.wrap('host-1', Buffer.from('2token'))
    const moved = Buffer.concat([wrapped.subarray(0, 32), Buffer.from('token')])
    assert.equal(tokens.unwrap('host-12', moved), undefined)
  })

  it('needs a key of 32 bytes', () => {
    for (const length of [0, 31, 33]) {
      assert.throws(() => new TaskTokens(Buffer.alloc(length)), /has \d+ bytes; it must have 32/)
    }
  })
})
