import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AddressError,
  hostPart,
  ownerUid,
  placeOf,
  planAddresses,
  tapName,
} from '../../../src/host/network/address-plan.ts'
import { AddressTurns } from '../../../src/host/network/address-turns.ts'
import { FakeNetwork } from '../../../src/host/fakes/fake-network.ts'
import { parseNetDev } from '../../../src/host/network/net-dev.ts'
import { forwardedGuestPorts, UserNetwork } from '../../../src/host/network/user-network.ts'
import { networkConformance, nicOf } from './conformance.ts'

describe('the fake network', () => {
  networkConformance(() => {
    const network = new FakeNetwork()
    return { network, again: () => network }
  })
})

describe('the user-mode network', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-user-network-'))
  })
  after(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  networkConformance(() => {
    const make = (): UserNetwork => new UserNetwork({ directory })
    return { network: make(), again: make }
  })

  it('forwards every documented guest port to a port of its own on the host', async () => {
    const network = new UserNetwork({ directory })
    await network.open()
    const attachment = await network.attach(nicOf(2))
    assert.ok(attachment.kind === 'user')
    assert.deepEqual(
      attachment.forwards.map((forward) => forward.guestPort),
      forwardedGuestPorts,
    )
    assert.equal(
      new Set(attachment.forwards.map((forward) => forward.hostPort)).size,
      forwardedGuestPorts.length,
    )
    assert.equal(await network.reach(nicOf(2), 1), undefined)
  })

  it('warns if outbound access is asked for, and only then', async () => {
    const said: string[] = []
    const warn = (message: string): number => said.push(message)
    await new UserNetwork({ directory, outbound: false, warn }).open()
    assert.deepEqual(said, [])
    await new UserNetwork({ directory, outbound: true, warn }).open()
    assert.match(said.join('\n'), /^outbound access is on but this agent is not root; .* nothing outside$/)
  })
})

describe('the plan of addresses', () => {
  const plan = planAddresses({ directory: '/a', subnet: '10.64.0.0/16' })

  it('its names fit into an interface name, and two agents have no name in common', () => {
    const other = planAddresses({ directory: '/b', subnet: '10.64.0.0/16' })
    assert.ok(tapName(plan, { ip: '10.64.255.254' }).length <= 15 && plan.bridge.length <= 15)
    assert.notEqual(tapName(plan, { ip: '10.64.0.2' }), tapName(other, { ip: '10.64.0.2' }))
    assert.notEqual(plan.bridge, other.bridge)
    assert.equal(plan.hostAddress, '10.64.0.1')
  })

  it('every address has a user of its own, outside those of people and containers', () => {
    assert.notEqual(ownerUid(plan, { ip: '10.64.0.2' }), ownerUid(plan, { ip: '10.64.1.2' }))
    for (const ip of ['10.64.0.2', '10.64.255.254']) {
      const uid = ownerUid(plan, { ip })
      assert.ok(uid >= 0x70000000 && uid <= 0x7fffffff)
    }
  })

  it('of a /20 begins at its first address and ends at its last one', () => {
    const small = planAddresses({ directory: '/a', subnet: '10.64.16.0/20' })
    assert.equal(small.hostAddress, '10.64.16.1')
    assert.equal(small.prefixLength, 20)
    assert.equal(tapName(small, { ip: '10.64.16.2' }), `${small.tapPrefix}0002`)
    assert.equal(tapName(small, { ip: '10.64.31.254' }), `${small.tapPrefix}0ffe`)
    for (const ip of ['10.64.16.1', '10.64.31.255', '10.64.32.2', '10.64.15.254'])
      assert.throws(() => hostPart(small, ip), AddressError)
  })

  it('refuses an address that is not of an instance of this host, and a network that is no /20 and no /16', () => {
    for (const ip of [
      '10.65.0.2',
      '10.64.0.1',
      '10.64.0.0',
      '10.64.255.255',
      '10.64.0',
      'x',
      '10.64.0.2; reboot',
    ])
      assert.throws(() => hostPart(plan, ip), AddressError)
    for (const subnet of ['10.64.0.0/24', '10.64.1.0/16', '10.64.8.0/20', '10.64.0.0/18', 'fd00::/16'])
      assert.throws(() => planAddresses({ directory: '/a', subnet }), AddressError)
  })
})

describe('the place of an instance with a seat', () => {
  const plan = planAddresses({ directory: '/a', subnet: '10.64.16.0/20' })
  const moved = { ip: '10.64.0.9', seat: '10.64.16.5' }

  it('gives its names and its user, and its own address gives none', () => {
    assert.equal(tapName(plan, moved), tapName(plan, { ip: moved.seat }))
    assert.equal(ownerUid(plan, moved), ownerUid(plan, { ip: moved.seat }))
  })

  it('is an address of this host’s instances, and its own address is one of some host', () => {
    for (const wrong of [
      { ip: moved.ip },
      { ip: moved.ip, seat: '10.64.16.1' },
      { ip: moved.ip, seat: '10.64.32.5' },
      { ip: '192.0.2.9', seat: moved.seat },
      { ip: '10.64.0.9; reboot', seat: moved.seat },
    ])
      assert.throws(() => placeOf(plan, wrong), AddressError)
  })
})

describe('the turns of addresses', () => {
  it('are taken in order by tasks that share an address, and by others at once', async () => {
    const turns = new AddressTurns()
    const first = Promise.withResolvers<void>()
    const done: string[] = []
    const run = async (name: string, addresses: readonly string[], wait?: Promise<void>) =>
      await turns.run(addresses, async () => {
        await wait
        done.push(name)
        if (name === 'fails') throw new Error(name)
      })
    const all = [
      run('first', ['a', 'b'], first.promise),
      run('fails', ['b', 'c']).catch(() => undefined),
      run('third', ['c']),
      run('free', ['d']),
    ]
    await all[3]
    assert.deepEqual(done, ['free'])
    first.resolve()
    await Promise.all(all)
    assert.deepEqual(done, ['free', 'first', 'fails', 'third'])
  })
})

describe('the counters of the host', () => {
  it('are read per interface, received and sent', () => {
    const text = [
      'Inter-|   Receive                                                |  Transmit',
      ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
      '    lo:  1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0',
      'rt1234560002: 7 1 0 0 0 0 0 0 9 2 0 0 0 0 0 0',
      '',
    ].join('\n')
    assert.deepEqual(parseNetDev(text).get('rt1234560002'), {
      rxBytes: 7,
      rxPackets: 1,
      txBytes: 9,
      txPackets: 2,
    })
  })
})
