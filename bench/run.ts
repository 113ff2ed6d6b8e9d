import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { readInstalled, requireInstalled } from '../src/launch/installed.ts'
import { readGuestAssets } from '../src/host/vmm/guest-assets.ts'
import { readHostFacts } from '../src/host/vmm/host-facts.ts'
import { needsNamespace, runInNamespace } from '../test/support/namespace.ts'
import { virtualMachinesOf } from '../test/support/processes.ts'
import { startStack } from '../test/support/stack.ts'
import type { Stack } from '../test/support/stack.ts'
import { benchReads } from './api-reads.ts'
import { benchAutoscale } from './autoscale.ts'
import { benchCertificates } from './certificates.ts'
import { benchGateway } from './gateway/bench-gateway.ts'
import { benchLifecycle } from './lifecycle-rate.ts'
import { describeMachine } from './machine.ts'
import { proportionalBytes, residentBytes } from './memory.ts'
import { inMb, printSection } from './report.ts'
import type { Section } from './report.ts'
import { benchScale } from './scale.ts'
import { benchStarts, startIdle } from './start-times.ts'
import { benchVolumes } from './volumes.ts'
import { benchWake } from './wake.ts'

/**
 * `npm run bench`, or `npm run bench -- starts reads` for some of it: ratios from one run. Every load is bounded; as root all of it happens in a namespace of its own.
 */

const parts = ['postgres', 'temporal', 'registry', 'api', 'worker', 'agent', 'gateway']
const maxShown = 6_000
/** Freshly started guests go on allocating for a moment. */
const idleSettleMs = 5_000

const sections = [
  'starts',
  'memory',
  'wake',
  'volumes',
  'lifecycle',
  'reads',
  'gateway',
  'certificates',
  'autoscale',
  'scale',
] as const
type SectionName = (typeof sections)[number]

async function main(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !sections.some((one) => one === name))
  if (unknown.length > 0)
    throw new Error(`no such section: ${unknown.join(', ')}; there are ${sections.join(', ')}`)
  const wants = (name: SectionName) => names.length === 0 || names.includes(name)
  const installed = readInstalled()
  const facts = await readHostFacts(installed.qemu)
  const assets = await readGuestAssets(requireInstalled(installed, 'guestDirectory'))
  // One rule for both sides of the ratio; where KVM works, set ROOST_ACCEL=kvm.
  const accelerator = process.env['ROOST_ACCEL'] === 'kvm' ? 'kvm' : 'tcg'
  printSection(describeMachine({ qemuPath: facts.qemuPath, accelerator }))
  if (wants('starts') || wants('memory')) {
    await withStack({ ROOST_ACCEL: accelerator, ROOST_LOG_LEVEL: 'info' }, async (stack) => {
      if (wants('starts')) printSection(await benchStarts(stack, { facts, assets, accelerator }))
      if (wants('memory')) printSection(await benchMemory(stack))
    })
  }
  if (wants('wake')) {
    await withStack({ ROOST_ACCEL: accelerator }, async (stack) => {
      printSection(await benchWake(stack, { facts, assets, accelerator }))
    })
  }
  if (wants('volumes')) {
    await withStack({ ROOST_ACCEL: accelerator }, async (stack) => {
      printSection(await benchVolumes(stack, { facts, assets, accelerator }))
    })
  }
  if (wants('lifecycle') || wants('reads')) {
    await withStack({ ROOST_VMM: 'fake' }, async (stack) => {
      const image = await digestOf(stack, 'hello')
      if (wants('lifecycle')) printSection(await benchLifecycle(stack, image))
      if (wants('reads')) printSection(await benchReads(stack, image))
    })
  }
  if (wants('gateway')) printSection(await benchGateway())
  if (wants('certificates')) printSection(await benchCertificates())
  if (wants('autoscale')) await benchAutoscale({ accelerator, withStack, digestOf })
  if (wants('scale')) {
    await withStack({ ROOST_VMM: 'fake' }, async (stack) => {
      printSection(await benchScale(stack, await digestOf(stack, 'hello')))
    })
  }
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
  const ofParts = parts.map((name) => ({
    what: name,
    figure: `resident ${inMb(residentBytes(stack.pidOf(name)))}, proportional ${inMb(proportionalBytes(stack.pidOf(name)))}`,
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
