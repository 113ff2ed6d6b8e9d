import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentMetrics } from '../../../src/host/agent/agent-metrics.ts'
import { planAddresses } from '../../../src/host/network/address-plan.ts'
import { CommandError, Commands } from '../../../src/host/network/commands.ts'
import { ConnectionTable } from '../../../src/host/network/connection-table.ts'
import { parseDropCounters } from '../../../src/host/network/drop-counters.ts'
import { FakeNetwork } from '../../../src/host/fakes/fake-network.ts'
import { flowLimitsFor } from '../../../src/host/network/flow-limits.ts'
import { HostFilter } from '../../../src/host/network/host-filter.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { until } from '../../support/until.ts'
import { nicOf } from './conformance.ts'
import { outsideAddress, TapScene } from './tap-scene.ts'

describe("the bounds of an instance's flows", () => {
  it('are shares of the table, small enough that the default number of instances of an account does not fill it', () => {
    assert.deepEqual(flowLimitsFor(262_144), { open: 1_024, newPerS: 256, newBurst: 512 })
    assert.deepEqual(flowLimitsFor(65_536), { open: 256, newPerS: 64, newBurst: 128 })
  })

  it('leave an instance some flows on a small host, and cost little on a large one', () => {
    assert.deepEqual(flowLimitsFor(1_000), { open: 64, newPerS: 16, newBurst: 32 })
    assert.deepEqual(flowLimitsFor(2 ** 24), { open: 4_096, newPerS: 1_024, newBurst: 2_048 })
  })
})

describe('the metrics of flows', () => {
  it('show how full the table is, and how much each bound dropped', async () => {
    const network = new FakeNetwork()
    network.dropped['new-flows'] = 7
    const metrics = new AgentMetrics(new Map())
    metrics.showNetwork(async () => await network.load())
    for (const _ of [1, 2]) {
      const text = await metrics.registry.metrics()
      assert.match(text, /^roost_agent_host_flows{of="max"} 262144$/m)
      assert.match(text, /^roost_agent_dropped_packets_total{bound="new-flows"} 7$/m)
      assert.match(text, /^roost_agent_dropped_packets_total{bound="flows"} 0$/m)
    }
  })

  it('are absent if the host does not know them', async () => {
    const metrics = new AgentMetrics(new Map())
    metrics.showNetwork(async () => await Promise.reject(new Error('no nft')))
    assert.doesNotMatch(await metrics.registry.metrics(), /^roost_agent_(host_flows|dropped)/m)
  })

  it("leave out what another agent's filter has dropped", () => {
    const counter = (table: string, packets: number): object => ({
      counter: { family: 'inet', table, name: 'flows_too_many', packets, bytes: 0 },
    })
    const text = JSON.stringify({ nftables: [{ metainfo: {} }, counter('ours', 3), counter('theirs', 4)] })
    assert.deepEqual(parseDropCounters(text, 'ours'), { flows: 3, 'new-flows': 0, bandwidth: 0 })
  })
})

describe('a host whose kernel can not bound flows', () => {
  /** Fake tools that refuse what such a kernel refuses. */
  class OldKernel extends Commands {
    readonly loaded: string[] = []

    override async run(command: readonly string[], input = ''): Promise<string> {
      if (input.includes('ct count'))
        throw new CommandError(`${command[0] ?? ''} ended with 1: not supported`)
      this.loaded.push(input)
      return await Promise.resolve('')
    }
  }

  it('loads its filter without the bounds, and says so', async () => {
    const commands = new OldKernel()
    const said: string[] = []
    const plan = planAddresses({ directory: '/a', subnet: '10.64.0.0/16' })
    await new HostFilter({ plan, commands, seated: () => [], warn: (message) => said.push(message) }).open()
    assert.match(commands.loaded.join(), /chain to_host/)
    assert.match(said.join(), /does not bound the connections of instances.*not supported/)
  })
})

/** A table of this size permits an instance 64 open flows, 16 new ones per second and 32 at once. */
const tableMax = 16_384
const limits = flowLimitsFor(tableMax)
/**
 * How many entries of other origin may be in the host's table of connections, such as those of DNS
 * questions.
 */
const others = 8
const dnsPort = 53

describe('the flows of instances on a host', function () {
  const scene = new TapScene('flows')
  const maxPath = join(tmpdir(), `${scene.host}-max`)
  const table = new ConnectionTable({ max: maxPath })
  let network: TapNetwork
  let entries: () => Promise<number>

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    await scene.open()
    scene.addOutside()
    writeFileSync(maxPath, `${tableMax}\n`)
    assert.equal(await table.max(), tableMax)
    const connectionTable = new ConnectionTable({ max: maxPath, entries: scene.procNet('stat/nf_conntrack') })
    entries = async () => (await connectionTable.entries()) ?? NaN
    network = new TapNetwork({ ...scene.options, outbound: true, connectionTable })
    await network.open()
    assert.deepEqual(scene.warnings, [])
  })
  after(async () => {
    await network?.close()
    scene.close()
    rmSync(maxPath, { force: true })
  })

  let vms = 1
  /**
   * Adds an instance. Each test has instances of its own, because open flows stay in the table for half a
   * minute.
   */
  async function addVm(): Promise<{ readonly namespace: string; readonly ip: string }> {
    const nic = nicOf((vms += 1))
    const namespace = scene.addVm(String(vms), nic)
    await network.attach(nic)
    return { namespace, ip: nic.ip }
  }

  /**
   * Runs a script in a namespace until the test ends. Resolves with a function that returns what it printed.
   */
  async function running(namespace: string, script: string): Promise<() => string> {
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', script])
    child.stderr.pipe(process.stderr)
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    closing.push(async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    })
    await until('it runs', () => text.startsWith('up'), { limitMs: 30_000 })
    return () => text
  }
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  /**
   * A script that sends one datagram to each of `count` ports. Each datagram is a flow of its own that
   * nobody answers.
   */
  const datagrams = (address: string, { from, count }: { from: number; count: number }): string => `
    const s = require('node:dgram').createSocket('udp4')
    let left = ${count}
    for (let i = 0; i < ${count}; i += 1) s.send('x', ${from} + i, '${address}', () => --left || s.close())`

  const run = (namespace: string, script: string): string =>
    execFileSync('ip', ['netns', 'exec', namespace, process.execPath, '-e', script], { encoding: 'utf8' })

  const echo = (address: string, port: number): string => `
    require('node:net').createServer((s) => s.on('error', () => {}).pipe(s))
      .listen(${port}, '${address}', 4096, () => console.log('up'))`
  const connects = (address: string, port: number): string => `
    const s = require('node:net').connect({ host: '${address}', port: ${port} })
    s.on('connect', () => s.end('hello')).pipe(process.stdout)`

  const dropped = async (): Promise<Record<string, number>> => ({ ...(await network.load())?.dropped })

  it('one instance opens no more than its bound and keeps those flows; others can still open theirs', async () => {
    const [greedy, other] = [await addVm(), await addVm()]
    await running(scene.outside, echo(outsideAddress, 7_000))
    const talk = await running(
      greedy.namespace,
      `const s = require('node:net').connect({ host: '${outsideAddress}', port: 7000 })
      s.on('connect', () => console.log('up')).pipe(process.stdout)
      setInterval(() => s.write('.'), 50)`,
    )
    let from = 10_000
    await until(
      'it has all that it may have',
      async () => {
        run(greedy.namespace, datagrams(outsideAddress, { from, count: 40 }))
        from += 40
        return ((await dropped())['flows'] ?? 0) > 0
      },
      { limitMs: 30_000 },
    )
    assert.ok((await entries()) <= limits.open + others, String(await entries()))
    const said = talk().length
    assert.equal(run(other.namespace, connects(outsideAddress, 7_000)), 'hello')
    await until('what it has goes on', () => talk().length > said, { limitMs: 10_000 })
  })

  it('one instance opens no more flows per second than its bound', async () => {
    const { namespace } = await addVm()
    const before = await entries()
    const droppedBefore = (await dropped())['new-flows'] ?? NaN
    run(namespace, datagrams(outsideAddress, { from: 20_000, count: 1_000 }))
    const opened = (await entries()) - before
    // A busy machine needs longer to send the datagrams, so more of them are permitted, but never more than
    // may be open.
    assert.ok(opened >= limits.newBurst - others && opened <= limits.open + others, String(opened))
    assert.ok(((await dropped())['new-flows'] ?? NaN) - droppedBefore >= 1_000 - limits.open)
  })

  it('a flow that nobody answers is opened once, however much is sent over it', async () => {
    const { namespace } = await addVm()
    const heard = await running(
      scene.outside,
      `const s = require('node:dgram').createSocket('udp4').on('message', () => console.log('heard'))
      s.bind(7001, '${outsideAddress}', () => console.log('up'))`,
    )
    run(
      namespace,
      `const s = require('node:dgram').createSocket('udp4'); let left = 200
      s.connect(7001, '${outsideAddress}', () => { for (let i = 0; i < 200; i += 1) s.send('x', () => --left || s.close()) })`,
    )
    await until('all of it arrives', () => heard().split('heard').length - 1 === 200, { limitMs: 10_000 })
  })

  it('flows to peers are bounded too, if the host tracks them', async () => {
    const [one, two] = [await addVm(), await addVm()]
    const before = await entries()
    run(one.namespace, datagrams(two.ip, { from: 30_000, count: 1_000 }))
    assert.ok((await entries()) - before <= limits.open + others)
  })

  it("connections to the host's nameserver take no entry, however many there are", async () => {
    const { namespace } = await addVm()
    await running(scene.host, echo(scene.plan.hostAddress, dnsPort))
    await network.admitDns()
    const before = await entries()
    const script = `
      const { connect } = require('node:net'); let left = 100
      for (let i = 0; i < 100; i += 1) {
        const s = connect({ host: '${scene.plan.hostAddress}', port: ${dnsPort} }, () => s.end('x'))
        s.on('close', () => --left || console.log('all')).resume()
      }`
    assert.match(run(namespace, script), /all/)
    assert.ok((await entries()) - before <= others)
  })
})
