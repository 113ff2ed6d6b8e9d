import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { DnsServer } from '../../../src/host/dns/dns-server.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import type { NicSpec } from '../../../src/host/network/network.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { currentNamespace } from '../../support/namespace.ts'
import { until } from '../../support/until.ts'
import { nicOf } from './conformance.ts'
import { openQemuBench } from '../vmm/qemu-bench.ts'
import type { QemuBench } from '../vmm/qemu-bench.ts'

const bootLimitMs = 60_000
const shellPort = 2323
const otherUser = '00000000-0000-4000-8000-00000000000b'

describe('the private network, with real VMs', function () {
  const one = nicOf(2)
  const two = nicOf(3)
  const theirs = { ...nicOf(4), userUuid: otherUser }
  const names = new PrivateNames()
  const woken: string[] = []
  let bench: QemuBench
  let vmm: QemuVmm
  let network: TapNetwork
  let dns: DnsServer
  let onHost: Server
  const specs = new Map<string, VmSpec>()

  before(async function () {
    // The test's devices must not meet those of other programs.
    if (process.getuid?.() !== 0 || currentNamespace() === undefined) return this.skip()
    bench = await openQemuBench()
    vmm = bench.open()
    network = new TapNetwork({
      directory: bench.directory,
      subnet: '10.64.0.0/16',
      peerWatchPath: join(requireInstalled(readInstalled(), 'guestDirectory'), 'peer-watch'),
      warn: (message) => bench.problems.push(message),
    })
    await network.open()
    network.onPeerTraffic((nic) => woken.push(nic.ip))
    dns = new DnsServer({ address: network.hostAddress, names, ownerOf: (ip) => network.ownerOf(ip) })
    await dns.open()
    await network.admitDns()
    names.remember([nameOf('one', one), nameOf('two.blue', two), nameOf('theirs', theirs)])
    onHost = createServer((socket) => socket.end('the host\n')).listen(0, network.hostAddress)
    await once(onHost, 'listening')
    await Promise.all([one, two, theirs].map(async (nic) => await start(nic)))
  })
  after(async () => {
    if (bench === undefined) return
    onHost.close()
    await dns.close()
    await bench.close()
    await network.close()
  })

  function nameOf(name: string, nic: NicSpec) {
    return { uuid: nic.instanceUuid, userUuid: nic.userUuid, name, privateIp: nic.ip }
  }

  async function start(nic: NicSpec): Promise<void> {
    const argv = ['nc', '-ll', '-p', String(shellPort), '-e', 'sh']
    const spec = await bench.spec({ argv, instanceUuid: nic.instanceUuid })
    const attached = { ...spec, attachment: await network.attach(nic) }
    specs.set(nic.ip, attached)
    await vmm.start(attached)
    const isUp = async (): Promise<boolean> => (await sh(nic, 'echo up').catch(() => '')).includes('up')
    await until('the guest answers', isUp, { limitMs: bootLimitMs })
  }

  /** Runs a command in a guest's shell. Returns its output and how it ended. */
  async function sh(nic: NicSpec, command: string): Promise<string> {
    const socket = connect({ host: nic.ip, port: shellPort })
    socket.setTimeout(bootLimitMs, () => socket.destroy(new Error(`no end of '${command}'`)))
    socket.write(`(${command}) 2>&1; echo "ended $?"; exit\n`)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return text
  }
  /**
   * What a guest prints if its datagram arrived at a port where nobody listens, and the guest was told so.
   */
  const refused = /refused/i
  const reaches = async (from: NicSpec, command: string): Promise<boolean> =>
    (await sh(from, command)).includes('ended 0')

  it('an instance reaches those of its user by name: ICMP, TCP and UDP', async () => {
    assert.equal(await reaches(one, 'ping -c1 -W5 two.blue.internal'), true)
    assert.match(await sh(one, `echo 'hostname -i' | nc -w5 two.blue.internal ${shellPort}`), /10\.64\.0\.3/)
    assert.match(await sh(one, `nslookup x ${two.ip}`), refused)
  })

  // The look-ups have a `-type`. Without it busybox asks two questions; with a coarse clock it gives both
  // the same id, and misses an answer.
  it('names work without a domain too, have no IPv6, do not exist without an instance, and addresses have names', async () => {
    assert.equal(await reaches(two, 'ping -c1 -W5 one'), true)
    assert.match(
      await sh(two, 'nslookup -type=a one.internal'),
      /Name:\s+one\.internal\s+Address:\s+10\.64\.0\.2/,
    )
    assert.doesNotMatch(await sh(two, 'nslookup -type=aaaa one.internal'), /Name:|NXDOMAIN|timed out/)
    assert.match(await sh(two, 'nslookup -type=a nobody.internal'), /NXDOMAIN/)
    assert.match(await sh(two, 'nslookup 10.64.0.2'), /name = one\.internal/)
    assert.match(await sh(two, 'nslookup -type=a example.com'), /REFUSED/)
  })

  it("names follow their instances, and another user's names do not exist", async () => {
    const added = { uuid: 'new', userUuid: one.userUuid, name: 'new', privateIp: '10.64.0.3' }
    names.apply({ kind: 'name', name: added })
    assert.match(await sh(one, 'nslookup -type=a new.internal'), /Address:\s+10\.64\.0\.3/)
    names.apply({ kind: 'name', name: { ...added, name: 'renamed' } })
    assert.match(await sh(one, 'nslookup -type=a new.internal'), /NXDOMAIN/)
    assert.match(await sh(one, 'nslookup -type=a renamed.internal'), /Address:\s+10\.64\.0\.3/)
    names.apply({ kind: 'gone', what: 'name', id: 'new' })
    assert.match(await sh(one, 'nslookup -type=a renamed.internal'), /NXDOMAIN/)
    assert.match(await sh(one, 'nslookup -type=a theirs.internal'), /NXDOMAIN/)
    assert.match(await sh(theirs, 'nslookup -type=a theirs.internal'), /Address:\s+10\.64\.0\.4/)
  })

  it('an instance does not reach those of other users: ICMP, TCP, UDP, ARP', async () => {
    assert.equal(await reaches(one, `ping -c1 -W2 ${theirs.ip}`), false)
    assert.equal(await reaches(one, `nc -w2 ${theirs.ip} ${shellPort} < /dev/null`), false)
    assert.equal(await reaches(one, `arping -c2 -w2 -I eth0 ${theirs.ip}`), false)
    assert.equal(await reaches(one, `arping -c2 -w2 -I eth0 ${two.ip}`), true)
    await sh(one, `arp -s ${theirs.ip} ${theirs.mac}`)
    assert.doesNotMatch(await sh(one, `nslookup x ${theirs.ip}`), refused)
    assert.equal(await reaches(one, `nc -w2 ${theirs.ip} ${shellPort} < /dev/null`), false)
  })

  it('an instance reaches nothing of the host except its nameserver', async () => {
    const { port } = onHost.address() as AddressInfo
    assert.doesNotMatch(await sh(one, `nc -w2 ${network.hostAddress} ${port} < /dev/null`), /the host/)
    assert.equal(await reaches(one, `ping -c1 -W2 ${network.hostAddress}`), false)
    assert.equal(await reaches(one, `nc -w2 ${network.hostAddress} 53 < /dev/null`), true)
  })

  it("packets of an instance that takes a peer's or a stranger's address or MAC are dropped", async () => {
    const as = async (ip: string): Promise<boolean> => {
      const source = `ip route change 10.64.0.0/16 dev eth0 src`
      const command = `ip addr add ${ip}/32 dev lo; ${source} ${ip}; ping -c1 -W2 ${two.ip}; code=$?`
      const back = `${source} ${one.ip}; ip addr del ${ip}/32 dev lo; echo "pinged $code"`
      await sh(one, `(${command}; ${back}) > /tmp/as 2>&1`).catch(() => '')
      return (await sh(one, 'cat /tmp/as')).includes('pinged 0')
    }
    for (const ip of [theirs.ip, '10.64.9.9']) assert.equal(await as(ip), false, ip)
    assert.equal(await reaches(one, `ping -c1 -W2 ${two.ip}`), true)
    await sh(
      one,
      'ip link set eth0 address 12:b0:0a:40:00:99; ping -c1 -W2 10.64.0.3 > /tmp/as 2>&1; ' +
        `ip link set eth0 address ${one.mac}; ip route add default via ${network.hostAddress}`,
    )
    assert.match(await sh(one, 'cat /tmp/as'), / 0 packets received/)
  })

  it('an instance in standby is woken by a peer, and answers it when it is up', async () => {
    const spec = specs.get(two.ip) as VmSpec
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
    await network.standBy(two)
    assert.equal(await reaches(theirs, `ping -c1 -W2 ${two.ip}`), false)
    assert.deepEqual(woken, [])
    const pinging = reaches(one, `for i in $(seq 60); do ping -c1 -W1 ${two.ip} && exit 0; done; exit 1`)
    await until('the packet is reported', () => woken.length > 0, { limitMs: 30_000 })
    await start(two)
    assert.equal(await pinging, true)
    assert.deepEqual(woken, [two.ip])
    assert.deepEqual(bench.problems, [])
  })
})
