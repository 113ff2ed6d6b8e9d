import { StartKind } from '../../domain/instance/start-report.ts'
import type { VmHandle } from './vm-handle.ts'
import { readCpuTimeMs, readProcessUsage, readRest } from './process-stat.ts'
import type { ProcessRest } from './process-stat.ts'
import { cpuTimeMsOf, findEvent } from './vm-events.ts'
import type { VmUsage } from './vmm.ts'

/** Memory and processor time of the VMM's process. Undefined if the process never began. */
export async function usageOf(vm: VmHandle): Promise<VmUsage | undefined> {
  const process = processOf(vm)
  if (process === undefined) return undefined
  const live = vm.isOver ? undefined : await readProcessUsage(process.pid, process.startTime)
  return live ?? { rssBytes: 0, cpuTimeMs: cpuTimeMsOf(vm.events) ?? 0 }
}

/** The processor time alone, read synchronously. */
export function processorTimeMs(vm: VmHandle): number | undefined {
  const process = processOf(vm)
  if (process === undefined) return undefined
  const live = vm.isOver ? undefined : readCpuTimeMs(process.pid, process.startTime)
  return live ?? cpuTimeMsOf(vm.events) ?? 0
}

/**
 * The CPU time and state of a VM and its keeper while the platform's kernel boots; undefined at any other
 * time. While it boots, that kernel waits for no disk and no network. The keeper counts too: the guest may
 * be waiting for the keeper, and this process hears of the guest only through the keeper.
 */
export function restOfBoot({ events, record }: VmHandle): ProcessRest | undefined {
  if (record.guest !== 'container' || record.kind !== StartKind.Boot) return undefined
  const boots = findEvent(events, 'running') !== undefined && findEvent(events, 'ready') === undefined
  const pid = boots ? findEvent(events, 'keeper')?.words[0] : undefined
  return pid === undefined ? undefined : readRest(Number(pid))
}

/**
 * How far a start came, for its error message: a VM that stands still and a VM without processor time are
 * different faults.
 */
export function progressOf(vm: VmHandle): string {
  const seconds = ((processorTimeMs(vm) ?? 0) / 1000).toFixed(1)
  return `its last step was "${vm.events.at(-1)?.what ?? 'none'}", and it used ${seconds} s of processor time`
}

function processOf(vm: VmHandle): { readonly pid: number; readonly startTime: string } | undefined {
  const [pid, startTime] = findEvent(vm.events, 'qemu')?.words ?? []
  return pid === undefined || startTime === undefined ? undefined : { pid: Number(pid), startTime }
}
