import { readFileSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Linux counts CPU time for programs in hundredths of a second on every machine. */
const msPerTick = 10

export interface ProcessUsage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
}

/**
 * Memory and CPU of a process, told apart from a later one of the same number by its start time. The memory
 * is its proportional share: what several VMs map from one template or kernel is counted once among them.
 */
export async function readProcessUsage(pid: number, startTime: string): Promise<ProcessUsage | undefined> {
  const stat = await read(`/proc/${pid}/stat`)
  const fields = parseStat(stat)
  if (fields?.startTime !== startTime) return undefined
  const rollup = await read(`/proc/${pid}/smaps_rollup`)
  const pssKb = rollup?.match(/^Pss:\s+(\d+) kB/m)?.[1]
  return {
    cpuTimeMs: fields.cpuTicks * msPerTick,
    rssBytes: pssKb === undefined ? fields.rssPages * 4096 : Number(pssKb) * 1024,
  }
}

/**
 * The CPU time alone, without waiting: 10 us, where the pages of a VM's memory take a millisecond to count. A
 * file of `/proc` is not on a disk, and handing its read to another thread costs eight times the read.
 */
export function readCpuTimeMs(pid: number, startTime: string): number | undefined {
  try {
    const fields = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return fields?.startTime === startTime ? fields.cpuTicks * msPerTick : undefined
  } catch {
    return undefined
  }
}

export interface ProcessRest {
  readonly cpuTimeMs: number
  /** No thread runs, and none waits for a processor or a disk, or was stopped. */
  readonly isAsleep: boolean
}

/**
 * Of a process and all that it started, at once. Undefined where one of them is gone, or the kernel does not
 * tell children.
 */
export function readRest(pid: number): ProcessRest | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
    const children = threads.flatMap(
      (thread) => readFileSync(`${thread}/children`, 'utf8').match(/\d+/g) ?? [],
    )
    const rests = children.map((child) => readRest(Number(child)))
    const own = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    if (own === undefined) return undefined
    let cpuTimeMs = own.cpuTicks * msPerTick
    let isAsleep = threads.every((thread) => parseStat(readFileSync(`${thread}/stat`, 'utf8'))?.state === 'S')
    for (const rest of rests) {
      if (rest === undefined) return undefined
      cpuTimeMs += rest.cpuTimeMs
      isAsleep &&= rest.isAsleep
    }
    return { cpuTimeMs, isAsleep }
  } catch {
    return undefined
  }
}

/**
 * Whether the process of that number is still the one that started at that time, and has this user, or this
 * among its arguments. A keeper that a guest has taken over may name any process as its VM's or as itself.
 */
export async function isSameProcess(
  pid: number,
  startTime: string,
  { uid, argument }: { readonly uid?: number | undefined; readonly argument?: string } = {},
): Promise<boolean> {
  if (parseStat(await read(`/proc/${pid}/stat`))?.startTime !== startTime) return false
  const status = await read(`/proc/${pid}/status`)
  if (uid !== undefined && status?.match(/^Uid:\t(\d+)\t/m)?.[1] !== String(uid)) return false
  if (argument === undefined) return true
  return (await read(`/proc/${pid}/cmdline`))?.split('\0').includes(argument) === true
}

interface StatFields {
  /** One letter of `proc(5)`: S sleeps, R runs or would like to. */
  readonly state: string | undefined
  readonly startTime: string
  readonly cpuTicks: number
  readonly rssPages: number
}

/** The second field is the name in parentheses and may hold anything, so fields are counted behind it. */
export function parseStat(stat: string | undefined): StatFields | undefined {
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [userTicks, systemTicks, startTime, rssPages] = [fields[11], fields[12], fields[19], fields[21]]
  if (startTime === undefined) return undefined
  return {
    state: fields[0],
    startTime,
    cpuTicks: Number(userTicks) + Number(systemTicks),
    rssPages: Number(rssPages),
  }
}

/** Undefined once the process is gone. */
async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return undefined
  }
}
