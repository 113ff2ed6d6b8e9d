import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TaskTokens } from '../../../src/relay/task-token.ts'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 })
const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const owner = fc.record({ hostId: fc.string({ unit: 'binary' }), keySha256: fc.string({ unit: 'binary' }) })

describe('a task token', () => {
  it('is taken back from the host that got it, by everybody with the same key', () => {
    fc.assert(
      fc.property(key, owner, bytes, (key, host, token) => {
        const wrapped = new TaskTokens(key).wrap(host, token)
        assert.deepEqual(new TaskTokens(key).unwrap(host, wrapped), Buffer.from(token))
      }),
    )
  })

  it('is not taken from another host, nor with another key, nor if one bit is changed', () => {
    fc.assert(
      fc.property(key, owner, owner, bytes, fc.nat(), (key, host, other, token, place) => {
        fc.pre(host.hostId !== other.hostId || host.keySha256 !== other.keySha256)
        const tokens = new TaskTokens(key)
        const wrapped = tokens.wrap(host, token)
        assert.equal(tokens.unwrap(other, wrapped), undefined)
        const otherKey = Uint8Array.from(key, (byte, index) => (index === 0 ? byte ^ 1 : byte))
        assert.equal(new TaskTokens(otherKey).unwrap(host, wrapped), undefined)
        const bit = place % (wrapped.length * 8)
        wrapped[bit >> 3]! ^= 1 << (bit & 7)
        assert.equal(tokens.unwrap(host, wrapped), undefined)
      }),
    )
  })

  it('of a host that was removed is not one of a later host with its id', () => {
    const tokens = new TaskTokens(Buffer.alloc(32, 1))
    const wrapped = tokens.wrap({ hostId: 'h2', keySha256: 'aa' }, Buffer.from('token'))
    assert.equal(tokens.unwrap({ hostId: 'h2', keySha256: 'ab' }, wrapped), undefined)
    assert.equal(tokens.unwrap({ hostId: 'h2a', keySha256: 'a' }, wrapped), undefined)
  })

  it('of one host is not one of another whose key is the beginning or the continuation of its key', () => {
    const tokens = new TaskTokens(Buffer.alloc(32, 1))
    const wrapped = tokens.wrap({ hostId: 'h2', keySha256: 'a' }, Buffer.from('2token'))
    const moved = Buffer.concat([wrapped.subarray(0, 32), Buffer.from('token')])
    assert.equal(tokens.unwrap({ hostId: 'h2', keySha256: 'a2' }, moved), undefined)
  })

  it('needs a key of 32 bytes', () => {
    for (const length of [0, 31, 33]) {
      assert.throws(() => new TaskTokens(Buffer.alloc(length)), /has \d+ bytes; it must have 32/)
    }
  })
})
