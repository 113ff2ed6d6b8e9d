import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { meshInterfaceName } from '../../../src/host/network/address-plan.ts'
import { Commands } from '../../../src/host/network/commands.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { processesIn } from '../../support/namespace.ts'
import { until } from '../../support/until.ts'
import { networkConformance, nicOf } from './conformance.ts'
import { hostOutsideAddress, outsideAddress, TapScene } from './tap-scene.ts'

const peerWatchPath = join(requireInstalled(readInstalled(), 'guestDirectory'), 'peer-watch')
const scene = new TapScene('tap')
const { host, plan, warnings } = scene

/**
 * Outside addresses that only the host may reach: private ones, and those at which clouds speak to their
 * machines.
 */
const closed = [
  '192.168.77.1',
  '168.63.129.16',
  '169.254.169.254',
  '100.100.100.200',
  '192.0.0.192',
  '198.18.0.1',
]

describe('the TAP network', function () {
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    await scene.open()
  })
  after(() => {
    scene.close()
  })

  const make = (options: { outbound?: boolean } = {}): TapNetwork =>
    new TapNetwork({ ...scene.options, ...options, peerWatchPath })
  const inHost = async (...command: string[]): Promise<string> => await scene.inHost(...command)
  const ip = (...args: string[]): void => scene.ip(...args)

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
    const other = new TapNetwork({ ...scene.options, directory: '/test/other', subnet: '10.65.0.0/16' })
    const network = make()
    await Promise.all([network.open(), other.open()])
    await network.attach(nicOf(2))
    const theirs = { ...nicOf(2), ip: '10.65.0.2' }
    await other.attach(theirs)
    await network.close()
    assert.notEqual(await other.counters(theirs), undefined)
    await other.close()
  })

  it('does not open a network of which another interface of the host has an address', async () => {
    const { host } = scene
    ip('-n', host, 'link', 'add', 'other0', 'type', 'bridge')
    ip('-n', host, 'addr', 'add', '10.64.7.1/24', 'dev', 'other0')
    const network = make()
    await assert.rejects(network.open(), (error: Error) => {
      assert.equal(error.name, 'SubnetOccupied')
      assert.match(error.message, /10\.64\.0\.0\/16.*interface other0 .* 10\.64\.7\.1 /)
      return true
    })
    assert.doesNotMatch(await inHost('ip', '-o', 'link'), /: r[bt]/)
    ip('-n', host, 'link', 'del', 'other0')
    await network.open()
    await make().open()
    await network.close()
  })

  it('opens a /20 beside an address of another interface in the same /16, and gives guests its length', async () => {
    const { host } = scene
    ip('-n', host, 'link', 'add', 'other0', 'type', 'bridge')
    ip('-n', host, 'addr', 'add', '10.64.7.1/24', 'dev', 'other0')
    const network = new TapNetwork({ ...scene.options, subnet: '10.64.16.0/20' })
    await network.open()
    assert.match(await inHost('ip', '-o', 'addr', 'show', 'dev', plan.bridge), / 10\.64\.16\.1\/20 /)
    const attached = await network.attach({ ...nicOf(2), ip: '10.64.31.254' })
    assert.deepEqual([attached.prefixLength, attached.gateway], [20, '10.64.16.1'])
    await network.close()
    const taken = new TapNetwork({ ...scene.options, subnet: '10.64.0.0/20' })
    await assert.rejects(taken.open(), { name: 'SubnetOccupied' })
    ip('-n', host, 'link', 'del', 'other0')
  })

  it('opens although the agent’s own interface of the mesh has the host’s address', async () => {
    const { host } = scene
    const own = meshInterfaceName(scene.directory)
    ip('-n', host, 'link', 'add', own, 'type', 'bridge')
    ip('-n', host, 'addr', 'add', `${plan.hostAddress}/32`, 'dev', own)
    const network = make()
    await network.open()
    await network.close()
    ip('-n', host, 'link', 'del', own)
  })

  it('says so when outbound access is asked for and the host has no way out', async () => {
    const network = make({ outbound: true })
    await network.open()
    assert.match(warnings.join(), /no default route/)
    await network.close()
  })

  describe('with VMs that send packets', () => {
    const one = nicOf(2)
    const two = nicOf(3)
    const other = { ...nicOf(4), userUuid: '00000000-0000-4000-8000-00000000000b' }
    const sleeper = nicOf(5)
    let network: TapNetwork
    let vms: Record<'one' | 'two' | 'other', string>

    before(async () => {
      scene.addOutside(closed)
      network = make({ outbound: true })
      vms = { one: scene.addVm('one', one), two: scene.addVm('two', two), other: scene.addVm('other', other) }
      await network.open()
      await Promise.all([one, two, other].map(async (nic) => await network.attach(nic)))
    })
    after(async () => {
      await network.close()
    })

    async function pings(namespace: string, address: string): Promise<boolean> {
      const child = spawn('ip', ['netns', 'exec', namespace, 'busybox', 'ping', '-c1', '-W1', address], {
        stdio: 'ignore',
      })
      const [code] = (await once(child, 'close')) as [number]
      return code === 0
    }

    it('the host reaches an instance without an ARP request', async () => {
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

    it('an instance reaches the instances of its user, and what they got is counted', async () => {
      const before = (await network.peerPackets(two)) ?? NaN
      assert.equal(await pings(vms.one, two.ip), true)
      assert.equal(await network.peerPackets(two), before + 1)
      await pings(host, two.ip)
      assert.equal(await network.peerPackets(two), before + 1)
    })

    it('an instance reaches neither the host nor the instances of other users, and gets no packets of theirs', async () => {
      assert.equal(await pings(vms.one, plan.hostAddress), false)
      assert.equal(await pings(vms.one, hostOutsideAddress), false)
      assert.equal(await pings(vms.one, other.ip), false)
      assert.equal(await pings(vms.other, one.ip), false)
      const neighbours = await new Commands(['ip', 'netns', 'exec', vms.other]).run(['ip', 'neigh'])
      assert.match(neighbours, new RegExp(`${one.ip} .*(FAILED|INCOMPLETE)`))
      assert.equal(await network.peerPackets(other), 0)
    })

    it('it does not reach them with a known MAC either, nor through the host', async () => {
      ip('-n', vms.one, 'neigh', 'replace', other.ip, 'lladdr', other.mac, 'dev', 'eth0')
      assert.equal(await pings(vms.one, other.ip), false)
      ip('-n', vms.one, 'route', 'add', other.ip, 'via', plan.hostAddress)
      assert.equal(await pings(vms.one, other.ip), false)
      assert.equal(await network.peerPackets(other), 0)
    })

    it('broadcasts beyond the rate that ARP needs are not copied to the peers', async () => {
      const received = async (): Promise<number> => (await network.counters(two))?.rxPackets ?? NaN
      const before = await received()
      const shout = `const s = require('node:dgram').createSocket('udp4')
        s.bind(() => { s.setBroadcast(true); let left = 2000
          for (let i = 0; i < 2000; i++) s.send('x', 9, '10.64.255.255', () => --left || s.close()) })`
      await new Commands(['ip', 'netns', 'exec', vms.one]).run([process.execPath, '-e', shout])
      assert.ok((await received()) > before)
      assert.ok((await received()) - before < 1_000)
    })

    describe('of which one is in standby', () => {
      const woken: string[] = []
      before(() => {
        network.onPeerTraffic((nic) => woken.push(nic.ip))
      })
      beforeEach(async () => {
        woken.length = 0
        await network.standBy(sleeper)
      })
      const says = async (): Promise<void> => {
        await until('the packet is reported', () => woken.length > 0, { limitMs: 30_000 })
      }

      it('the first packet of a peer is reported, once', async () => {
        assert.equal(await pings(vms.one, sleeper.ip), false)
        await says()
        await pings(vms.one, sleeper.ip)
        assert.deepEqual(woken, [sleeper.ip])
        assert.ok(((await network.peerPackets(sleeper)) ?? 0) >= 2)
      })

      it('packets of other users or of the host are not reported', async () => {
        ip('-n', vms.other, 'neigh', 'replace', sleeper.ip, 'lladdr', sleeper.mac, 'dev', 'eth0')
        assert.equal(await pings(vms.other, sleeper.ip), false)
        assert.equal(await pings(host, sleeper.ip), false)
        assert.deepEqual(woken, [])
      })

      it('a new standby reports a packet again, even after the watch has crashed', async () => {
        for (const pid of watchers()) process.kill(pid, 'SIGKILL')
        await until('it is noticed', () => warnings.some((warning) => warning.includes('starts again')), {
          limitMs: 30_000,
        })
        await until(
          'it is reported',
          async () => {
            await pings(vms.one, sleeper.ip)
            return woken.length > 0
          },
          { limitMs: 20_000 },
        )
      })

      it('a VM gets the device as soon as it is attached', async () => {
        const attachment = await network.attach(sleeper)
        assert.ok(attachment.kind === 'tap')
        const tap = attachment.interfaceName
        assert.doesNotMatch(await inHost('ip', '-o', 'link', 'show', tap), /LOWER_UP/)
        await pings(vms.one, sleeper.ip)
        assert.deepEqual(woken, [])
      })

      it('the watch has no right of root except to take devices', () => {
        const [pid = 0] = watchers()
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        assert.match(status, /^CapEff:\s+0000000000001000$/m)
        assert.match(status, /^Uid:\s+1[89]\d{8}\s/m)
      })

      it('the watch ends with the agent', async () => {
        await network.close()
        assert.deepEqual(watchers(), [])
        await network.open()
        await Promise.all([one, two, other].map(async (nic) => await network.attach(nic)))
      })

      function watchers(): readonly number[] {
        return processesIn(host).filter((pid) => readlinkSync(`/proc/${pid}/exe`).endsWith('peer-watch'))
      }
    })

    it('with outbound access an instance reaches the outside, but no private network and no address of a cloud itself', async () => {
      assert.equal(await pings(vms.one, outsideAddress), true)
      const reaches = async (namespace: string): Promise<readonly string[]> => {
        const answered = await Promise.all(closed.map(async (address) => await pings(namespace, address)))
        return closed.filter((_, index) => answered[index])
      }
      assert.deepEqual(await reaches(host), closed)
      assert.deepEqual(await reaches(vms.one), [])
    })

    it('the outside opens no connection to an instance', async () => {
      ip('-n', scene.outside, 'route', 'add', '10.64.0.0/16', 'via', hostOutsideAddress)
      assert.equal(await pings(scene.outside, one.ip), false)
    })

    it("packets of an instance that takes another's address are dropped", async () => {
      speakAs('10.64.0.77')
      assert.equal(await pings(vms.one, outsideAddress), false)
      speakAs(one.ip)
      assert.equal(await pings(vms.one, outsideAddress), true)
    })

    it("an instance that sends with another's MAC does not get the packets for that MAC", async () => {
      const nft = (rules: string): Promise<string> =>
        new Commands(['ip', 'netns', 'exec', vms.one]).run(['nft', '-f', '-'], rules)
      // The ARP request holds the instance's own MAC and address. Only the frame around it is forged: its
      // sender is the other instance, and its receiver is everybody or only the next bridge.
      for (const receiver of ['ff:ff:ff:ff:ff:ff', '01:80:c2:00:00:0e', '01:80:c2:00:00:03']) {
        assert.equal(await pings(host, other.ip), true)
        await nft(`table netdev forged { chain out { type filter hook egress device eth0 priority 0;
          ether type arp ether saddr set ${other.mac} ether daddr set ${receiver}; }; }`)
        await pings(vms.one, '10.64.0.99')
        await nft('delete table netdev forged')
        assert.equal(await pings(host, other.ip), true, receiver)
      }
    })

    it('a frame of the host to a MAC that the bridge does not know yet reaches no other instance', async () => {
      const sent = { ip: '10.64.0.98', mac: '12:b0:0a:40:00:62' }
      ip('-n', host, 'neigh', 'replace', sent.ip, 'lladdr', sent.mac, 'dev', plan.bridge)
      const received = async (): Promise<number> => (await network.counters(two))?.rxPackets ?? NaN
      // ARP requests are copied to all ports, and a sender without an answer repeats them for seconds.
      await until(
        'nobody asks for an address',
        async () => !(await Promise.all(Object.values(vms).map(asks))).includes(true),
        { limitMs: 30_000 },
      )
      const before = await received()
      await pings(host, sent.ip)
      assert.equal(await received(), before)
    })

    async function asks(namespace: string): Promise<boolean> {
      const neighbours = await new Commands(['ip', 'netns', 'exec', namespace]).run(['ip', 'neigh'])
      return /INCOMPLETE|DELAY|PROBE/.test(neighbours)
    }

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

    it('without outbound access an instance reaches nothing outside', async () => {
      const closed = make()
      await closed.open()
      await closed.attach(one)
      assert.equal(await pings(vms.one, outsideAddress), false)
      assert.equal(await pings(host, one.ip), true)
      // The filter of `closed` replaced that of `network`, and knows neither the other VMs nor the numbers
      // of their users.
      await network.open()
    })
  })
})
