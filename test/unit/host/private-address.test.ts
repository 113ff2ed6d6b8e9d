import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  addressesPerSubnet,
  addressIndexes,
  firstInstanceIndex,
  freeSubnet,
  lastInstanceIndex,
  macAddress,
  privateAddress,
} from '../../../src/domain/host/private-address.ts'

const subnet = '10.64.0.0/16'
const index = fc.integer({ min: firstInstanceIndex, max: lastInstanceIndex })

describe('private addresses', () => {
  it('lie in their subnet, apart from its first, its last and the host', () => {
    assert.equal(privateAddress(subnet, 1), '10.64.0.1')
    assert.equal(privateAddress(subnet, firstInstanceIndex), '10.64.0.2')
    assert.equal(privateAddress(subnet, 256), '10.64.1.0')
    assert.equal(privateAddress(subnet, lastInstanceIndex), '10.64.255.254')
    for (const outside of [0, -1, lastInstanceIndex + 1, 1.5, Number.NaN]) {
      assert.throws(() => privateAddress(subnet, outside), RangeError)
    }
    for (const none of ['10.64.0.0/15', '10.64.1.0/16', '300.1.0.0/16', '10.64/16', '']) {
      assert.throws(() => privateAddress(none, 2), RangeError)
    }
  })

  it('and MAC addresses differ wherever indexes differ', () => {
    fc.assert(
      fc.property(index, index, (a, b) => {
        const [first, second] = [privateAddress(subnet, a), privateAddress(subnet, b)]
        assert.equal(first === second, a === b)
        assert.equal(macAddress(first) === macAddress(second), a === b)
      }),
    )
  })

  it('have MAC addresses that are unicast and locally administered', () => {
    assert.equal(macAddress('10.64.0.2'), '12:b0:0a:40:00:02')
    fc.assert(
      fc.property(index, (at) => {
        const mac = macAddress(privateAddress(subnet, at))
        assert.match(mac, /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/)
        assert.equal(Number.parseInt(mac.slice(0, 2), 16) & 0b11, 0b10)
      }),
    )
  })

  it('are tried in a circle in which each comes once', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: lastInstanceIndex + 1 }),
        fc.integer({ min: 1, max: 300 }),
        (from, count) => {
          const indexes = addressIndexes(from, count)
          assert.equal(new Set(indexes).size, count)
          assert.ok(indexes.every((one) => one >= firstInstanceIndex && one <= lastInstanceIndex))
        },
      ),
    )
    assert.deepEqual(addressIndexes(lastInstanceIndex, 2), [lastInstanceIndex, firstInstanceIndex])
    assert.equal(new Set(addressIndexes(777, 1_000_000)).size, addressesPerSubnet)
  })
})

describe('subnets', () => {
  it('are the preferred one where it is free, else the next free one, round the range', () => {
    assert.equal(freeSubnet('10.70.0.0/16', new Set()), '10.70.0.0/16')
    assert.equal(freeSubnet('10.70.0.0/16', new Set(['10.70.0.0/16'])), '10.71.0.0/16')
    assert.equal(freeSubnet('10.127.0.0/16', new Set(['10.127.0.0/16', '10.64.0.0/16'])), '10.65.0.0/16')
    assert.equal(freeSubnet('172.16.0.0/16', new Set(['172.16.0.0/16']))?.startsWith('10.'), true)
  })

  it('of 10.64.0.0/10 are 64', () => {
    const taken = new Set<string>()
    for (let count = 0; count < 64; count++) {
      const next = freeSubnet('10.100.0.0/16', taken)
      assert.ok(next !== undefined && !taken.has(next))
      taken.add(next)
    }
    assert.equal(freeSubnet('10.100.0.0/16', taken), undefined)
  })
})
