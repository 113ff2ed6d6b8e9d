import { readFileSync } from 'node:fs'
import { familyOf } from '../../test/support/processes.ts'

/**
 * The ticks per second in the kernel's figures. The number is the same on all machines on which Linux runs
 * today.
 */
const ticksPerSecond = 100

/**
 * The processor time of a process and the processes that it started. It shows what a request costs even if
 * other processes use the same cores; elapsed time would not.
 */
export function processorSeconds(pid: number): number {
  return [...processorSecondsOfEach(pid).values()].reduce((sum, seconds) => sum + seconds, 0)
}

/** The processor time of each process. A sum alone would lose the time of a process that ended. */
export function processorSecondsOfEach(pid: number): ReadonlyMap<number, number> {
  return new Map(familyOf(pid).map((member) => [member, ticksOf(member) / ticksPerSecond]))
}

function ticksOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command's name, in parentheses, may hold any character. The 12th and 13th field after it are the
  // user's and the system's time.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
