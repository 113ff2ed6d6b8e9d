import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { UserNetwork } from '../../../src/host/network/user-network.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { until } from '../../support/until.ts'
import { nicOf } from './conformance.ts'
import { openQemuBench } from '../vmm/qemu-bench.ts'
import type { QemuBench } from '../vmm/qemu-bench.ts'

const bootLimitMs = 60_000
const shellPort = 8_080

describe('the user-mode network, with a real VM', () => {
  const nic = nicOf(2)
  let bench: QemuBench
  let vmm: QemuVmm
  let network: UserNetwork
  let gateway: string
  let onHost: Server
  let accepted = 0

  before(async () => {
    bench = await openQemuBench()
    // The VMs start as on a host without root. As root, each would get a network namespace of its own, in
    // which its forwarded ports could not be reached.
    vmm = bench.open({ facts: { ...bench.context.facts, isRoot: false } })
    // Outbound access is on. Packets must not go out even so, because this host can not filter them.
    network = new UserNetwork({ directory: bench.directory, outbound: true })
    await network.open()
    onHost = createServer((socket) => {
      accepted += 1
      socket.end('the host\n')
    }).listen(0, '127.0.0.1')
    await once(onHost, 'listening')
    const argv = ['nc', '-ll', '-p', String(shellPort), '-e', 'sh']
    const spec = await bench.spec({ argv, instanceUuid: nic.instanceUuid })
    const attachment = await network.attach(nic)
    gateway = attachment.gateway
    await vmm.start({ ...spec, attachment })
    const isUp = async (): Promise<boolean> => (await sh('echo up').catch(() => '')).includes('up')
    await until('the guest answers at its forwarded port', isUp, { limitMs: bootLimitMs })
  })
  after(async () => {
    onHost.close()
    await vmm.close()
    await bench.close()
  })

  /** Runs a command in the guest's shell, through the host's port. Returns its output and how it ended. */
  async function sh(command: string): Promise<string> {
    const place = await network.reach(nic, shellPort)
    assert.ok(place)
    const socket = connect(place)
    socket.setTimeout(bootLimitMs, () => socket.destroy(new Error(`no end of '${command}'`)))
    socket.write(`(${command}) 2>&1; echo "ended $?"; exit\n`)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return text
  }

  it('a guest can not connect to the loopback of its host', async () => {
    const { port } = onHost.address() as AddressInfo
    const said = await sh(`nc -w3 ${gateway} ${port} < /dev/null`)
    assert.match(said, /ended [1-9]/)
    assert.doesNotMatch(said, /the host/)
    assert.equal(accepted, 0)
  })

  it('a guest that asks for a name is refused at once', async () => {
    assert.match(await sh('timeout 1 nslookup -type=a example.com'), /refused/i)
  })
})
