import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { sectionsNamed } from '../setup/needs.mjs'
import { defaultChangesPerMinute } from '../src/contract/limits.ts'
import { defaultSleepsPerMinute } from '../src/domain/standby/scale-to-zero.ts'
import { readInstalled, requireInstalled } from '../src/launch/installed.ts'
import { readGuestAssets } from '../src/host/vmm/guest-assets.ts'
import { readHostFacts } from '../src/host/vmm/host-facts.ts'
import { needsNamespace, runInNamespace } from '../test/support/namespace.ts'
import { familyOf, virtualMachinesOf } from '../test/support/processes.ts'
import { startStack } from '../test/support/stack.ts'
import type { Stack } from '../test/support/stack.ts'
import { benchReads } from './api-reads.ts'
import { benchAutoscale } from './autoscale.ts'
import { benchCertificates } from './certificates.ts'
import { benchGateway } from './gateway/bench-gateway.ts'
import { benchCores } from './gateway/cores.ts'
import { benchHosts } from './hosts.ts'
import { readHostsOptions } from './hosts/load-options.ts'
import type { HostsOptions } from './hosts/load-options.ts'
import { startProductionTemporal } from './hosts/production-temporal.ts'
import { benchLifecycle } from './lifecycle-rate.ts'
import { describeMachine } from './machine.ts'
import { proportionalBytes, residentBytes } from './memory.ts'
import { benchNeighbours } from './neighbours.ts'
import { inMb, printSection } from './report.ts'
import type { Section } from './report.ts'
import { benchRollout } from './rollout.ts'
import { benchScale } from './scale.ts'
import { benchStarts, startIdle } from './start-times.ts'
import type { Hand } from './start-times.ts'
import { drawTimelines } from './timeline.ts'
import { benchVolumes } from './volumes.ts'
import { benchWake } from './wake.ts'

/**
 * `npm run bench`, or `npm run bench -- starts reads` for some sections, measures ratios in one run. Every
 * load is bounded. As root everything runs in a network namespace of its own.
 */

const parts = ['postgres', 'temporal', 'registry', 'api', 'worker', 'agent', 'gateway']
const maxShown = 6_000
/**
 * The pause before idle guests are measured, because they go on allocating for a moment after their start.
 */
const idleSettleMs = 5_000

/** The accelerator of both sides of a ratio. If KVM works, set ROOST_ACCEL=kvm. */
const accelerator = process.env['ROOST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg'
const pretended = { ROOST_VMM: 'fake' }
type SectionName = ReturnType<typeof sectionsNamed>[number]

async function main(args: readonly string[]): Promise<void> {
  const { options, names } = readHostsOptions(args)
  const sections = sectionsNamed(names)
  const wants = (name: SectionName) => sections.includes(name)
  printSection(describeMachine(accelerator))
  if (wants('starts') || wants('memory')) {
    await withMachines({ ROOST_LOG_LEVEL: 'info' }, async (stack, hand) => {
      if (wants('starts')) printSection(await benchStarts(stack, hand))
      if (wants('memory')) printSection(await benchMemory(stack))
    })
  }
  if (wants('timeline')) {
    await withStack({ ROOST_ACCEL: accelerator, ROOST_SPANS: 'on', ROOST_SERVER_TIMING: 'on' }, drawTimelines)
  }
  if (wants('wake')) {
    await withMachines({}, async (stack, hand) => {
      printSection(await benchWake(stack, hand))
    })
  }
  if (wants('volumes')) {
    await withMachines({}, async (stack, hand) => {
      printSection(await benchVolumes(stack, hand))
    })
  }
  if (wants('lifecycle') || wants('reads')) {
    await withStack(pretended, async (stack) => {
      const image = await digestOf(stack, 'hello')
      if (wants('lifecycle')) printSection(await benchLifecycle(stack, image))
      if (wants('reads')) printSection(await benchReads(stack, image))
    })
  }
  if (wants('gateway')) {
    printSection(await benchGateway(requireInstalled(readInstalled(), 'loadTools')))
  }
  if (wants('cores')) printSection(await benchCores())
  if (wants('certificates')) printSection(await benchCertificates())
  if (wants('autoscale')) await benchAutoscale({ accelerator, withStack, digestOf })
  if (wants('rollout')) {
    await withStack({ ROOST_ACCEL: accelerator }, async (stack) => {
      printSection(await benchRollout(stack))
    })
  }
  if (wants('neighbours')) {
    // The settings for tests switch these limits off, so they are set here.
    const bounded = {
      ROOST_SLEEPS_PER_MINUTE: String(defaultSleepsPerMinute),
      ROOST_CHANGES_PER_MINUTE: String(defaultChangesPerMinute),
    }
    await withStack({ ROOST_ACCEL: accelerator, ...bounded }, async (stack) => {
      printSection(await benchNeighbours(stack))
    })
  }
  if (wants('scale')) {
    await withStack(pretended, async (stack) => {
      printSection(await benchScale(stack, await digestOf(stack, 'hello')))
    })
  }
  if (wants('hosts')) await hosts(options)
}

async function hosts(options: HostsOptions): Promise<void> {
  const temporal = options.temporal === 'postgres' ? await startProductionTemporal() : undefined
  try {
    const env = {
      ...pretended,
      ...(options.link === 'tls' && { ROOST_HOSTS_ADDRESS: '127.0.0.1' }),
      ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
    }
    await withStack(env, async (stack) => {
      await benchHosts(stack, await digestOf(stack, 'hello'), { options, ...(temporal && { temporal }) })
    })
  } finally {
    await temporal?.stop()
  }
}

/** Starts a stack that runs virtual machines, and prepares what the same starts by hand need. */
async function withMachines(
  env: Readonly<Record<string, string>>,
  work: (stack: Stack, hand: Hand) => Promise<void>,
) {
  const installed = readInstalled()
  const facts = await readHostFacts(installed.qemu)
  const assets = await readGuestAssets(requireInstalled(installed, 'guestDirectory'))
  await withStack({ ROOST_ACCEL: accelerator, ...env }, async (stack) => {
    await work(stack, { facts, assets, accelerator })
  })
}

async function withStack(env: Readonly<Record<string, string>>, work: (stack: Stack) => Promise<void>) {
  const stack = await startStack({ ROOST_LOG_LEVEL: 'warn', ...env })
  try {
    await work(stack)
  } catch (error) {
    process.stderr.write(`the stack said last:\n${stack.output().slice(-maxShown)}\n`)
    throw error
  } finally {
    await stack.remove()
  }
}

async function benchMemory(stack: Stack): Promise<Section> {
  const pidsOf = (name: string) => (name === 'gateway' ? familyOf(stack.pidOf(name)) : [stack.pidOf(name)])
  const sum = (name: string, of: (pid: number) => number) =>
    pidsOf(name).reduce((all, pid) => all + of(pid), 0)
  const ofParts = parts.map((name) => ({
    what: name,
    figure: `resident ${inMb(sum(name, residentBytes))}, proportional ${inMb(sum(name, proportionalBytes))}`,
  }))
  const uuids = await startIdle(stack)
  await delay(idleSettleMs)
  const machines = uuids.flatMap((uuid) => virtualMachinesOf(uuid))
  const mean = (of: (pid: number) => number) =>
    machines.reduce((sum, { pid }) => sum + of(pid), 0) / machines.length
  const idle = {
    what: `an idle instance of 128 MB (mean of ${machines.length})`,
    figure: `resident ${inMb(mean(residentBytes))}, proportional ${inMb(mean(proportionalBytes))}`,
  }
  return { title: 'memory', findings: [...ofParts, idle] }
}

async function digestOf(stack: Stack, app: string): Promise<string> {
  const created = await stack.api.one('createInstances', { body: { name: 'digest', image: app } })
  const { image } = await stack.api.one('getInstances', { object: created.uuid })
  await stack.api.one('deleteInstances', { object: created.uuid })
  return `official/${image ?? ''}`
}

if (needsNamespace()) process.exit(await runInNamespace(`roost-bench`))
await main(process.argv.slice(2))
process.stdout.write(`\nwhole run: ${(performance.now() / 1000).toFixed(0)} s\n`)
