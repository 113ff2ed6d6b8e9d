import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { overlap, readNetwork } from '../../../src/domain/host/ipv4-network.ts'
import {
  addressesPerSubnet,
  addressIndexes,
  firstInstanceIndex,
  freeSubnet,
  isAddressOf,
  isAmongHosts,
  lastInstanceIndex,
  macAddress,
  networkAround,
  numberedSubnet,
  privateAddress,
} from '../../../src/domain/host/private-address.ts'

const subnets = ['10.64.0.0/16', '10.64.16.0/20'] as const
const subnet = fc.constantFrom(...subnets)
const indexIn = (network: string) => fc.integer({ min: firstInstanceIndex, max: lastInstanceIndex(network) })
const placed = subnet.chain((network) => fc.tuple(fc.constant(network), indexIn(network), indexIn(network)))

describe('private addresses', () => {
  it('is of one network, whatever its size', () => {
    assert.ok(isAddressOf('10.64.16.0/20', '10.64.31.254'))
    assert.ok(!isAddressOf('10.64.16.0/20', '10.64.32.1'))
    assert.ok(isAddressOf('10.70.0.0/16', '10.70.200.1'))
    assert.ok(!isAddressOf('10.70.0.0/16', 'nonsense'))
  })

  it('lie in their subnet, apart from its first, its last and the host', () => {
    assert.equal(privateAddress('10.64.0.0/16', 1), '10.64.0.1')
    assert.equal(privateAddress('10.64.0.0/16', firstInstanceIndex), '10.64.0.2')
    assert.equal(privateAddress('10.64.0.0/16', 256), '10.64.1.0')
    assert.equal(privateAddress('10.64.0.0/16', 65_534), '10.64.255.254')
    assert.equal(privateAddress('10.64.16.0/20', 1), '10.64.16.1')
    assert.equal(privateAddress('10.64.16.0/20', 4_094), '10.64.31.254')
    assert.deepEqual(subnets.map(addressesPerSubnet), [65_533, 4_093])
    for (const network of subnets) {
      for (const outside of [0, -1, lastInstanceIndex(network) + 1, 1.5, Number.NaN])
        assert.throws(() => privateAddress(network, outside), RangeError)
    }
    for (const none of ['10.64.0.0/15', '10.64.1.0/16', '10.64.8.0/20', '300.1.0.0/16', '10.64/16', ''])
      assert.throws(() => privateAddress(none, 2), RangeError)
  })

  it('and MAC addresses differ wherever indexes differ', () => {
    fc.assert(
      fc.property(placed, ([network, a, b]) => {
        const [first, second] = [privateAddress(network, a), privateAddress(network, b)]
        assert.equal(first === second, a === b)
        assert.equal(macAddress(first) === macAddress(second), a === b)
      }),
    )
  })

  it('have MAC addresses that are unicast and locally administered', () => {
    assert.equal(macAddress('10.64.0.2'), '12:b0:0a:40:00:02')
    fc.assert(
      fc.property(placed, ([network, at]) => {
        const mac = macAddress(privateAddress(network, at))
        assert.match(mac, /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/)
        assert.equal(Number.parseInt(mac.slice(0, 2), 16) & 0b11, 0b10)
      }),
    )
  })

  it('are tried in a circle in which each comes once', () => {
    fc.assert(
      fc.property(
        subnet,
        fc.integer({ min: 0, max: 65_535 }),
        fc.integer({ min: 1, max: 300 }),
        (network, from, count) => {
          const indexes = addressIndexes(network, from, count)
          assert.equal(new Set(indexes).size, count)
          const last = lastInstanceIndex(network)
          assert.ok(indexes.every((one) => one >= firstInstanceIndex && one <= last))
        },
      ),
    )
    for (const network of subnets) {
      const last = lastInstanceIndex(network)
      assert.deepEqual(addressIndexes(network, last, 2), [last, firstInstanceIndex])
      assert.equal(new Set(addressIndexes(network, 777, 1_000_000)).size, addressesPerSubnet(network))
    }
  })
})

/** A network of a host: an old /16, or a /20. */
const hostSubnet = fc.oneof(
  fc.nat({ max: 1_023 }).map(numberedSubnet),
  fc.nat({ max: 63 }).map((octet) => `10.${64 + octet}.0.0/16`),
)
const clash = (one: string, other: string): boolean => {
  const [first, second] = [readNetwork(one), readNetwork(other)]
  assert.ok(first && second, `${one} and ${other}`)
  return overlap(first, second)
}

describe('the networks of hosts', () => {
  it('are the preferred one where it is free, else the next free /20, round the range', () => {
    assert.equal(freeSubnet('10.70.0.0/16', []), '10.70.0.0/16')
    assert.equal(freeSubnet('10.70.16.0/20', []), '10.70.16.0/20')
    assert.equal(freeSubnet('10.70.0.0/16', ['10.70.0.0/16']), '10.71.0.0/20')
    assert.equal(freeSubnet('10.70.16.0/20', ['10.70.16.0/20']), '10.70.32.0/20')
    assert.equal(freeSubnet('10.70.0.0/16', ['10.70.0.0/20']), '10.70.16.0/20')
    assert.equal(freeSubnet('10.127.240.0/20', ['10.127.240.0/20', '10.64.0.0/16']), '10.65.0.0/20')
    assert.equal(freeSubnet('172.16.0.0/16', ['172.16.0.0/16']), '10.64.0.0/20')
    assert.equal(freeSubnet('10.70.0.0/20', ['10.0.0.0/8', 'nonsense']), undefined)
  })

  it('never overlap one another, nor what is occupied, and none is left out', () => {
    const occupied = fc.array(fc.oneof(hostSubnet, fc.constantFrom('10.99.7.0/24', '192.168.0.0/16', '?')))
    fc.assert(
      fc.property(
        hostSubnet,
        fc.array(hostSubnet, { maxLength: 40 }),
        occupied,
        (preferred, taken, others) => {
          const all = [...taken, ...others]
          const networks = all.filter((text) => text !== '?')
          const found = freeSubnet(preferred, all)
          if (found === undefined) {
            for (let number = 0; number < 1_024; number++)
              assert.ok(networks.some((one) => clash(one, numberedSubnet(number))))
            return
          }
          assert.deepEqual(
            networks.filter((one) => clash(one, found)),
            [],
          )
          assert.equal(found === preferred, !networks.some((one) => clash(one, preferred)))
        },
      ),
    )
  })

  it('are 1024 in 10.64.0.0/10, and 16 fewer for each /16 of an earlier version', () => {
    const fill = (taken: string[]): number => {
      let next: string | undefined = '10.100.0.0/20'
      for (let count = 0; ; count++) {
        next = freeSubnet(next, taken)
        if (next === undefined) return count
        taken.push(next)
      }
    }
    assert.equal(fill([]), 1_024)
    assert.equal(fill(['10.64.0.0/16', '10.101.0.0/16']), 1_024 - 32)
  })

  it('follow from a number', () => {
    assert.equal(numberedSubnet(0), '10.64.0.0/20')
    assert.equal(numberedSubnet(1_023), '10.127.240.0/20')
    assert.equal(numberedSubnet(1_024), '10.64.0.0/20')
  })

  it('leave the networks of the machine’s other addresses alone', () => {
    assert.equal(networkAround('10.64.17.9/24'), '10.64.16.0/20')
    assert.equal(networkAround('10.64.17.9/32'), '10.64.16.0/20')
    assert.equal(networkAround('10.64.17.9/18'), '10.64.0.0/18')
    assert.equal(networkAround('10.64.17.9/16'), '10.64.0.0/16')
    assert.equal(networkAround('10.64.17.9/8'), '10.64.0.0/16')
    for (const none of ['10.64.17.9', '10.64.17/20', 'fe80::1/64', ''])
      assert.equal(networkAround(none), undefined)
    assert.deepEqual(['10.64.0.0/16', '10.127.240.0/20', '10.128.0.0/16', '?'].map(isAmongHosts), [
      true,
      true,
      false,
      false,
    ])
  })
})
