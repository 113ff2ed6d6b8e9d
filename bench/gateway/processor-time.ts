import { readFileSync } from 'node:fs'
import { familyOf } from '../../test/support/processes.ts'

/** Of the kernel's figures, on every machine that Linux runs on today. */
const ticksPerSecond = 100

/**
 * What a process and those that it started have used of processors so far. Unlike the time that goes by, it
 * says what a request costs also where others use the same cores.
 */
export function processorSeconds(pid: number): number {
  return [...processorSecondsOfEach(pid).values()].reduce((sum, seconds) => sum + seconds, 0)
}

/** By process: what one of them used that ended would be missing in the sum. */
export function processorSecondsOfEach(pid: number): ReadonlyMap<number, number> {
  return new Map(familyOf(pid).map((member) => [member, ticksOf(member) / ticksPerSecond]))
}

function ticksOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command's name, in parentheses, may hold anything; 12th and 13th after it are the user's and the
  // system's share.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
