import { readFileSync } from 'node:fs'

/** Identifies a process. Process ids are used again, but never together with the same start time. */
export interface ProcessIdentity {
  readonly pid: number
  /** The start time in clock ticks since the machine's boot, from /proc. */
  readonly startTicks: number
}

/**
 * Returns undefined if there is no such process. A zombie counts as none, unless some of its threads still
 * end: until the last one has, the process keeps its ports.
 */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command's name is in parentheses and may itself hold spaces and parentheses. The other fields
    // follow the last closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, threads, startTicks] = [fields[0], Number(fields[17]), Number(fields[19])]
    return state === 'Z' && threads <= 1 ? undefined : { pid, startTicks }
  } catch {
    return undefined
  }
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startTicks === identity.startTicks
}

/**
 * Sends a signal to a process or, with a negative number, to a process group. It is no error if the process
 * has ended.
 */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!isNoSuchProcess(error)) throw error
  }
}

/** Whether a process group has any process, if only a zombie. */
export function hasMembers(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch (error) {
    if (isNoSuchProcess(error)) return false
    throw error
  }
}

function isNoSuchProcess(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH'
}
