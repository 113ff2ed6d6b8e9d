import { setTimeout as delay } from 'node:timers/promises'
import { HolderHidden } from '../primitives/directory-lock.ts'
import { findPlatform } from './data-directory.ts'
import { signalOf } from './end-signals.ts'
import type { PlatformEnd } from './end-signals.ts'
import { countVirtualMachines } from './parts/left-virtual-machines.ts'
import { isRunning, signalProcess } from './parts/process-identity.ts'

/** What became of a halt, and how many virtual machines run afterwards. */
export type HaltOutcome =
  | { readonly kind: 'ended'; readonly endedVms: number; readonly leftVms: number }
  | { readonly kind: 'nothing-runs'; readonly leftVms: number }
  /** A platform of another user may run there. */
  | { readonly kind: 'hidden' }
  /** The platform has its signal, and has not ended in time. */
  | { readonly kind: 'still-runs'; readonly pid: number; readonly limitMs: number }

export interface PlatformPlace {
  readonly dataDir: string
  readonly agentDir: string
}

/** A platform ends within 10 s. More than that means that its machine is very busy, or that it hangs. */
const defaultLimitMs = 60_000
const pollMs = 50

/**
 * Ends the platform that runs in a data directory, and resolves when its main process is gone. What that
 * process was told before counts: an end that is under way goes on as it began.
 */
export async function haltPlatform(
  { dataDir, agentDir }: PlatformPlace,
  end: PlatformEnd,
  limitMs = defaultLimitMs,
): Promise<HaltOutcome> {
  try {
    const platform = findPlatform(dataDir)
    const ranVms = countVirtualMachines(agentDir)
    if (platform === undefined) return { kind: 'nothing-runs', leftVms: ranVms }
    if (isRunning(platform)) signalProcess(platform.pid, signalOf[end])
    const deadlineMs = performance.now() + limitMs
    while (isRunning(platform) && performance.now() < deadlineMs) await delay(pollMs)
    if (isRunning(platform)) return { kind: 'still-runs', pid: platform.pid, limitMs }
    const leftVms = countVirtualMachines(agentDir)
    return { kind: 'ended', endedVms: Math.max(0, ranVms - leftVms), leftVms }
  } catch (error) {
    if (!(error instanceof HolderHidden)) throw error
    return { kind: 'hidden' }
  }
}
