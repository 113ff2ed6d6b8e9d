import { readFileSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Linux reports CPU time to programs in hundredths of a second on every machine. */
const msPerTick = 10

export interface ProcessUsage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
}

/**
 * Memory and CPU time of a process. Its start time distinguishes it from a later process of the same number.
 * The memory is its proportional share: pages that several VMs map from one template or kernel are divided
 * among them. Undefined if the process is gone.
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
 * The CPU time alone, read synchronously. That takes 10 us, while counting the pages of a VM's memory takes
 * a millisecond. A file of `/proc` is not on a disk, so the read is short; an asynchronous read would cost
 * eight times as much.
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
  /** Every thread sleeps: none runs, waits for a processor or a disk, or was stopped. */
  readonly isAsleep: boolean
}

/**
 * The CPU time and state of a process and all its descendants, read synchronously. Undefined where one of
 * them is gone, or the kernel does not list children.
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
 * Whether the process with this number is still the one that started at `startTime`. If `uid` or `argument`
 * is given, the process must also run as that user or have that argument. Without this check, a keeper that
 * a guest has taken over could name any process of the host as its VM or as itself.
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

/**
 * Reads a line of `/proc/<pid>/stat`. The second field is the process's name in parentheses and may hold
 * anything, so the fields are counted from behind it.
 */
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

/** Reads a file of `/proc`. Undefined once the process is gone. */
async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return undefined
  }
}
