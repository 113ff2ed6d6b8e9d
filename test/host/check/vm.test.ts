import assert from 'node:assert/strict'
import type { InstanceCheck } from '../../../src/domain/rollout/check.ts'
import { probeApplication } from '../../../src/host/check/application-probe.ts'
import type { Network } from '../../../src/host/network/network.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { UserNetwork } from '../../../src/host/network/user-network.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { currentNamespace } from '../../support/namespace.ts'
import { until } from '../../support/until.ts'
import { nicOf } from '../network/conformance.ts'
import { openQemuBench } from '../vmm/qemu-bench.ts'
import type { QemuBench } from '../vmm/qemu-bench.ts'

const bootLimitMs = 60_000
const nic = nicOf(2)
/** A web server at 8080, and something at 9090 that closes each connection at once. */
const script = `mkdir -p /tmp/www && echo well > /tmp/www/health
nc -ll -p 9090 -e true & exec httpd -f -p 8080 -h /tmp/www`

type Place = Pick<InstanceCheck, 'port' | 'path' | 'status'>

interface Guest {
  readonly vmm: QemuVmm
  readonly network: Network
}

async function startGuest(bench: QemuBench, { vmm, network }: Guest): Promise<void> {
  await network.open()
  const spec = await bench.spec({ argv: ['sh', '-c', script], instanceUuid: nic.instanceUuid })
  await vmm.start({ ...spec, attachment: await network.attach(nic) })
  const isUp = async () => (await look(network, { port: 8080, path: '/health' })) === 'good'
  await until('the application answers', isUp, { limitMs: bootLimitMs })
}

async function look(network: Network, place: Place): Promise<string> {
  const reach = await network.reach(nic, place.port)
  assert.ok(reach !== undefined)
  const probed = { ...reach, privateIp: nic.ip, signal: AbortSignal.timeout(bootLimitMs) }
  const result = await probeApplication(probed, { ...place, timeoutMs: 5_000 })
  return result.ok ? 'good' : result.why
}

/** The looks that must have the same results with each network. */
function sameLooks(network: () => Network): void {
  it('finds a port that listens, and one that does not', async () => {
    assert.equal(await look(network(), { port: 8080 }), 'good')
    assert.equal(await look(network(), { port: 3000 }), 'nothing listens on port 3000')
  })

  it('has the status of the application’s answer', async () => {
    assert.equal(await look(network(), { port: 8080, path: '/health', status: 200 }), 'good')
    assert.equal(
      await look(network(), { port: 8080, path: '/none' }),
      'GET /none on port 8080 answered 404 instead of a status from 200 to 399',
    )
  })
}

describe('the look at an application in a VM, over its private address', function () {
  let bench: QemuBench
  let vmm: QemuVmm
  let network: TapNetwork

  before(async function () {
    // The test's devices must not meet those of other programs.
    if (process.getuid?.() !== 0 || currentNamespace() === undefined) return this.skip()
    bench = await openQemuBench()
    vmm = bench.open()
    const warn = (message: string) => void bench.problems.push(message)
    network = new TapNetwork({ directory: bench.directory, subnet: '10.64.0.0/16', warn })
    await startGuest(bench, { vmm, network })
  })
  after(async () => {
    if (bench === undefined) return
    await vmm.close()
    await bench.close()
    await network.close()
  })

  sameLooks(() => network)

  it('takes an application that closes connections at once for one that listens', async () => {
    assert.equal(await look(network, { port: 9090 }), 'good')
  })
})

describe('the look at an application in a VM, through a port of QEMU', function () {
  let bench: QemuBench
  let vmm: QemuVmm
  let network: UserNetwork

  before(async () => {
    bench = await openQemuBench()
    // As root, the VM would get a network namespace of its own, in which its ports could not be reached.
    vmm = bench.open({ facts: { ...bench.context.facts, isRoot: false } })
    network = new UserNetwork({ directory: bench.directory })
    await startGuest(bench, { vmm, network })
  })
  after(async () => {
    await vmm.close()
    await bench.close()
    await network.close()
  })

  sameLooks(() => network)

  it('can not tell an application that closes connections at once from one that does not listen', async () => {
    assert.equal(await look(network, { port: 9090 }), 'nothing listens on port 9090')
  })
})
