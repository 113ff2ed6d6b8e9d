import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { haltMarkerName } from '../../domain/host/halt-marker.ts'
import { PlatformEnd } from '../end-signals.ts'
import { identify, isRunning, signalProcess } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

/**
 * How long a keeper may take to write its record and end after its VM has ended. A slower keeper is killed.
 */
const keeperLimitMs = 500
const pollMs = 20

/**
 * Ends the virtual machines below `agentDirectory` and returns their number. Virtual machines outlive an
 * agent on purpose. So if an agent had to be killed while the stack stopped, the stack itself has to end
 * them.
 */
export async function endLeftVirtualMachines(agentDirectory: string): Promise<number> {
  const keepers = keepersBelow(agentDirectory)
  if (keepers.length > 0) markHalt(agentDirectory)
  for (const { pid } of keepers) for (const vm of lastOf(pid)) signalProcess(vm, 'SIGKILL')
  const deadlineMs = Date.now() + keeperLimitMs
  while (keepers.some(isRunning) && Date.now() < deadlineMs) await delay(pollMs)
  for (const keeper of keepers) if (isRunning(keeper)) signalProcess(keeper.pid, 'SIGKILL')
  while (keepers.some(isRunning)) await delay(pollMs)
  return keepers.length
}

/** As the agent does before it ends VMs. The time of an agent that began to is the earlier one. */
function markHalt(agentDirectory: string): void {
  try {
    writeFileSync(path.join(agentDirectory, haltMarkerName), String(Date.now()), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' && existsSync(agentDirectory)) throw error
  }
}

/** Called when all parts have ended: ends the virtual machines that are left, or says that they run on. */
export async function settleVirtualMachines(
  agentDirectory: string,
  end: PlatformEnd,
  log: Logger,
): Promise<void> {
  if (end === PlatformEnd.EndVms) {
    const left = await endLeftVirtualMachines(agentDirectory)
    if (left > 0) log.warn({ left }, 'ended virtual machines that the agent had left running')
    return
  }
  const left = countVirtualMachines(agentDirectory)
  if (left > 0) log.info({ left }, 'virtual machines run on, and the next start takes them over')
}

/** The number of virtual machines below `agentDirectory`. */
export function countVirtualMachines(agentDirectory: string): number {
  return keepersBelow(agentDirectory).length
}

/**
 * Finds keepers of VMs (`guest/keeper`): one of their arguments is the directory of their VM. A
 * child process of a keeper that has not started its own program yet looks like the keeper itself, and is
 * left out.
 */
function keepersBelow(agentDirectory: string): readonly ProcessIdentity[] {
  const found = processNumbers().flatMap((pid) => {
    const [program = '', ...args] = read(`/proc/${pid}/cmdline`).split('\0')
    const isOurs =
      path.basename(program) === 'keeper' && args.some((one) => one.startsWith(`dir=${agentDirectory}/`))
    const identity = isOurs ? identify(pid) : undefined
    return identity === undefined ? [] : [identity]
  })
  const children = new Set(found.flatMap(({ pid }) => childrenOf(pid)))
  return found.filter(({ pid }) => !children.has(pid))
}

/**
 * The processes of a keeper's VM. Between a keeper and its VM may be the first process of the VM's
 * namespace. It is left out, because it ends with the VM and reports how the VM ended.
 */
function lastOf(keeper: number): readonly number[] {
  return childrenOf(keeper).flatMap((child) => {
    const below = childrenOf(child)
    return below.length === 0 ? [child] : below
  })
}

function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

function processNumbers(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** Reads a file of /proc. If the process has ended in the meantime, the text is empty. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
