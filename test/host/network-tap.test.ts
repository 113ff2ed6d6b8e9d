import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { planAddresses, tapName } from '../../src/host/network/address-plan.ts'
import { Commands } from '../../src/host/network/commands.ts'
import { TapNetwork } from '../../src/host/network/tap-network.ts'
import { networkConformance, nicOf } from './network-conformance.ts'

const subnet = '10.64.0.0/16'
const directory = '/test/agent'
const plan = planAddresses({ directory, subnet })

/** Namespaces of this test: `host` plays the machine, one more per VM that sends packets. */
const host = `roost-tap-${String(process.pid)}`
const namespaces: string[] = []

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function addNamespace(name: string): void {
  ip('netns', 'add', name)
  namespaces.push(name)
  ip('-n', name, 'link', 'set', 'lo', 'up')
}

describe('the TAP network', function () {
  let holder: ChildProcess
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    addNamespace(host)
    // The counters are read through a process that lives in the namespace.
    holder = spawn('ip', ['netns', 'exec', host, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    holder.stdin?.write('ready\n')
    await once(holder.stdout as NodeJS.ReadableStream, 'data')
  })
  after(() => {
    holder.stdin?.end()
    for (const name of namespaces) ip('netns', 'del', name)
  })

  const warnings: string[] = []
  const make = (options: { outbound?: { nameserver: string } } = {}): TapNetwork =>
    new TapNetwork({
      directory,
      subnet,
      ...options,
      commands: new Commands(['ip', 'netns', 'exec', host]),
      netDevPath: `/proc/${String(holder.pid)}/net/dev`,
      warn: (message) => warnings.push(message),
    })
  const inHost = async (...command: string[]): Promise<string> =>
    await new Commands(['ip', 'netns', 'exec', host]).run(command)

  describe('as every network', () => {
    networkConformance(() => ({ network: make(), again: make }))
  })

  it('leaves nothing on the host when it is closed', async () => {
    const network = make()
    await network.open()
    await network.attach(nicOf(2))
    assert.match(await inHost('ip', '-o', 'link'), new RegExp(plan.bridge))
    await network.close()
    assert.doesNotMatch(await inHost('ip', '-o', 'link'), /: r[bt]/)
    assert.equal(await inHost('nft', 'list', 'ruleset'), '')
  })

  it('two agents on one host do not touch each other', async () => {
    const other = new TapNetwork({
      directory: '/test/other',
      subnet: '10.65.0.0/16',
      commands: new Commands(['ip', 'netns', 'exec', host]),
      netDevPath: `/proc/${String(holder.pid)}/net/dev`,
      warn: (message) => warnings.push(message),
    })
    const network = make()
    await Promise.all([network.open(), other.open()])
    await network.attach(nicOf(2))
    const theirs = { ...nicOf(2), ip: '10.65.0.2' }
    await other.attach(theirs)
    await network.close()
    assert.notEqual(await other.counters(theirs), undefined)
    await other.close()
  })

  it('says so when outbound access is asked for and the host has no way out', async () => {
    const network = make({ outbound: { nameserver: '10.99.0.53' } })
    await network.open()
    assert.match(warnings.join(), /no default route/)
    await network.close()
  })

  describe('with VMs that send packets', () => {
    const one = nicOf(2)
    const two = nicOf(3)
    let network: TapNetwork
    let vms: Record<'one' | 'two', string>

    before(async () => {
      // What lies beyond the host: a network with an uplink, so that there is something to reach or not to reach.
      const outside = `${host}-outside`
      addNamespace(outside)
      ip('-n', host, 'link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'up0', 'netns', outside)
      for (const [name, address] of [
        [host, '203.0.113.1/24'],
        [outside, '203.0.113.2/24'],
      ] as const) {
        ip('-n', name, 'addr', 'add', address, 'dev', 'up0')
        ip('-n', name, 'link', 'set', 'up0', 'up')
      }
      ip('-n', outside, 'addr', 'add', '192.168.77.1/24', 'dev', 'lo')
      ip('-n', host, 'route', 'add', 'default', 'via', '203.0.113.2')
      network = make({ outbound: { nameserver: '203.0.113.2' } })
      vms = { one: addVm('one', one), two: addVm('two', two) }
      await network.open()
      await Promise.all([network.attach(one), network.attach(two)])
    })
    after(async () => {
      await network.close()
    })

    /** A pair of interfaces in place of a TAP: the host's end has the TAP's name, the other end is the VM. */
    function addVm(name: string, nic: { ip: string; mac: string }): string {
      const namespace = `${host}-${name}`
      addNamespace(namespace)
      const tap = tapName(plan, nic.ip)
      ip('-n', host, 'link', 'add', tap, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
      ip('-n', namespace, 'link', 'set', 'eth0', 'address', nic.mac)
      ip('-n', namespace, 'addr', 'add', `${nic.ip}/16`, 'dev', 'eth0')
      ip('-n', namespace, 'link', 'set', 'eth0', 'up')
      ip('-n', namespace, 'route', 'add', 'default', 'via', plan.hostAddress)
      return namespace
    }

    async function pings(namespace: string, address: string): Promise<boolean> {
      const child = spawn('ip', ['netns', 'exec', namespace, 'busybox', 'ping', '-c1', '-W1', address], {
        stdio: 'ignore',
      })
      const [code] = (await once(child, 'close')) as [number]
      return code === 0
    }

    it('the host reaches an instance, whose address it need not ask for', async () => {
      assert.match(await inHost('ip', 'neigh', 'show', one.ip), /PERMANENT/)
      assert.equal(await pings(host, one.ip), true)
    })

    it('bytes and packets are counted from the side of the VM', async () => {
      const before = await network.counters(one)
      await pings(host, one.ip)
      const after = await network.counters(one)
      assert.ok(before !== undefined && after !== undefined)
      assert.ok(after.rxPackets > before.rxPackets && after.txPackets > before.txPackets)
    })

    it('an instance reaches neither the host nor another instance', async () => {
      assert.equal(await pings(vms.one, plan.hostAddress), false)
      assert.equal(await pings(vms.one, '203.0.113.1'), false)
      assert.equal(await pings(vms.one, two.ip), false)
    })

    it('not even by way of the host', async () => {
      ip('-n', vms.one, 'route', 'add', two.ip, 'via', plan.hostAddress)
      assert.equal(await pings(vms.one, two.ip), false)
    })

    it('an instance reaches the outside but no private network there, where outbound access is on', async () => {
      assert.equal(await pings(vms.one, '203.0.113.2'), true)
      assert.equal(await pings(vms.one, '192.168.77.1'), false)
    })

    it('the outside opens no connection to an instance', async () => {
      ip('-n', `${host}-outside`, 'route', 'add', '10.64.0.0/16', 'via', '203.0.113.1')
      assert.equal(await pings(`${host}-outside`, one.ip), false)
    })

    it("an instance that takes another's address is not heard", async () => {
      speakAs('10.64.0.77')
      assert.equal(await pings(vms.one, '203.0.113.2'), false)
      speakAs(one.ip)
      assert.equal(await pings(vms.one, '203.0.113.2'), true)
    })

    function speakAs(address: string): void {
      ip('-n', vms.one, 'addr', 'flush', 'dev', 'eth0')
      ip('-n', vms.one, 'addr', 'add', `${address}/16`, 'dev', 'eth0')
      ip('-n', vms.one, 'route', 'add', 'default', 'via', plan.hostAddress)
    }

    it('neighbours stay known when ports come and go', async () => {
      await network.attach(nicOf(50))
      await network.detach(nicOf(50))
      assert.match(await inHost('ip', 'neigh', 'show', one.ip), /PERMANENT/)
    })

    it('outbound access off: an instance reaches nothing outside', async () => {
      const closed = make()
      await closed.open()
      await closed.attach(one)
      assert.equal(await pings(vms.one, '203.0.113.2'), false)
      assert.equal(await pings(host, one.ip), true)
    })
  })
})
