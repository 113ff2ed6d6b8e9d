import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ContainerImage } from '../src/host/images/images.ts'
import type { GuestAssets } from '../src/host/vmm/guest-assets.ts'
import type { HostFacts } from '../src/host/vmm/host-facts.ts'
import { runInstance } from '../test/support/instances.ts'
import type { InstanceView } from '../test/support/instances.ts'
import type { Stack } from '../test/support/stack.ts'
import { startByHand } from './by-hand.ts'
import { median } from './load.ts'
import { inMs } from './report.ts'
import type { Finding, Section } from './report.ts'

export interface Hand {
  readonly facts: HostFacts
  readonly assets: GuestAssets
  readonly accelerator: 'kvm' | 'tcg'
}

interface Start {
  readonly totalMs: number
  readonly view: InstanceView
}

const runs = 7
/**
 * The pause after a start. The first start of a size makes a template in the background, and the machine has
 * to be quiet again.
 */
const settleMs = 5_000
const freeingMs = 1_000
const templateMemoryMb = 128

/**
 * Measures the time from a request to create an instance to the answer that its application runs, against
 * QEMU alone with the same image.
 */
export async function benchStarts(stack: Stack, hand: Hand): Promise<Section> {
  const warmUp = await timedStart(stack, templateMemoryMb)
  const image = preparedImage(stack, warmUp.view)
  await delay(settleMs)
  const byHand: number[] = []
  const boots: Start[] = []
  const fromTemplate: Start[] = []
  for (let run = 0; run < runs; run++) {
    byHand.push(await startByHand({ ...hand, ...guestOf(image), memoryMb: templateMemoryMb + 1 + run }))
    // The VM by hand is gone, but the kernel still frees its memory.
    await delay(freeingMs)
    // A size that was never started has no template, so this start boots the guest.
    boots.push(await timedStart(stack, templateMemoryMb + 1 + run))
    await delay(settleMs)
    fromTemplate.push(await timedStart(stack, templateMemoryMb))
  }
  const handMs = median(byHand)
  const bootMs = median(boots.map(({ totalMs }) => totalMs))
  const templateMs = median(fromTemplate.map(({ totalMs }) => totalMs))
  // Other work on the machine slows measurements that are close in time equally, so each ratio is of a pair.
  const ratio = (starts: readonly Start[]) =>
    median(starts.map(({ totalMs }, run) => totalMs / (byHand[run] ?? Number.NaN)))
  const overheadMs = median(boots.map(({ totalMs }, run) => totalMs - (byHand[run] ?? Number.NaN)))
  return {
    title: `create to running, medians of ${runs}`,
    findings: [
      { what: 'QEMU by hand, plain boot', figure: inMs(handMs) },
      { what: 'Roost, plain boot', figure: inMs(bootMs) },
      { what: 'Roost, from a template', figure: inMs(templateMs) },
      { what: 'plain boot / by hand', figure: ratio(boots).toFixed(2), aim: 'under 1.15' },
      { what: 'template / by hand', figure: ratio(fromTemplate).toFixed(2), aim: 'under 0.40' },
      { what: 'plain boot - by hand', figure: inMs(overheadMs), aim: 'under 60 ms' },
      ...stages('plain boot', boots),
      ...stages('template', fromTemplate),
    ],
  }
}

async function timedStart(stack: Stack, memoryMb: number): Promise<Start> {
  const startedMs = performance.now()
  await stack.api.one('createInstances', {
    body: { name: 'timed', image: 'hello', memory_mb: memoryMb, autostart: true, wait_timeout_ms: 60_000 },
  })
  const totalMs = performance.now() - startedMs
  const view = await stack.api.one('getInstances', { object: 'timed' })
  await stack.api.one('deleteInstances', { object: 'timed' })
  return { totalMs, view }
}

/** The time of each stage, from what the host recorded of each start. */
function stages(what: string, starts: readonly Start[]): Finding[] {
  const of = (pick: (view: InstanceView) => number | undefined) =>
    median(starts.map(({ view }) => (pick(view) ?? Number.NaN) / 1000))
  const vmmMs = of((view) => view.vmm_start_time_us)
  const loadMs = of((view) => view.vmm_load_time_us)
  const readyMs = of((view) => view.vmm_ready_time_us)
  const bootedMs = of((view) => view.boot_time_us)
  const platformMs = median(starts.map(({ totalMs, view }) => totalMs - (view.boot_time_us ?? 0) / 1000))
  return [
    { what: `${what}: API, workflow, image, network`, figure: inMs(platformMs), aim: 'at most 50 ms' },
    { what: `${what}: until the VMM process runs`, figure: inMs(vmmMs) },
    { what: `${what}: until kernel and initrd are loaded`, figure: inMs(loadMs) },
    { what: `${what}: until the guest executes`, figure: inMs(readyMs) },
    { what: `${what}: until the kernel has booted`, figure: inMs(bootedMs) },
  ]
}

export function preparedImage(stack: Stack, view: InstanceView): ContainerImage {
  const directory = path.join(stack.dataDir, 'agent', 'images')
  const digest = (view.image ?? '').split('@')[1]?.replace(':', '-') ?? ''
  if (!readdirSync(directory).includes(digest)) throw new Error(`${digest} is not in ${directory}`)
  const stored = JSON.parse(
    readFileSync(path.join(directory, digest, 'image.json'), 'utf8'),
  ) as ContainerImage
  return { ...stored, rootfsPath: path.join(directory, digest, path.basename(stored.rootfsPath)) }
}

export function guestOf(image: ContainerImage) {
  const env = Object.fromEntries(
    image.env.map((entry) => {
      const at = entry.indexOf('=')
      return [entry.slice(0, at), entry.slice(at + 1)]
    }),
  )
  return {
    rootfsPath: image.rootfsPath,
    process: {
      argv: [...image.entrypoint, ...image.command],
      env,
      workingDirectory: image.workingDirectory,
      user: image.user,
      hostname: 'by-hand',
    },
  }
}

const idleInstances = 4

export async function startIdle(stack: Stack): Promise<readonly string[]> {
  const names = Array.from({ length: idleInstances }, (_, index) => `idle-${'abcd'[index]}`)
  const views: InstanceView[] = []
  for (const name of names) views.push(await runInstance(stack.api, { name, image: 'hello' }))
  return views.map(({ uuid }) => uuid)
}
