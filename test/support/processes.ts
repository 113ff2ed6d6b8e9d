import { readFileSync, readdirSync } from 'node:fs'

export interface ProcessSeen {
  readonly pid: number
  readonly commandLine: string
}

/** Every living process that names the directory in its command line or its environment, and the VMs of such. */
export function processesOf(directory: string): readonly ProcessSeen[] {
  const named = allProcesses().filter(
    ({ pid, commandLine }) =>
      commandLine.includes(directory) || read(`/proc/${pid}/environ`).includes(directory),
  )
  return [...named, ...virtualMachinesOf(directory)]
}

/**
 * The VM processes of `place`, an instance or the directory of a stack. A VM's own command line names no file, so it is
 * found by its keeper's, which names the instance's directory.
 */
export function virtualMachinesOf(place: string): readonly ProcessSeen[] {
  const all = allProcesses()
  const keepers = new Set(all.filter((one) => one.commandLine.includes(place)).map(({ pid }) => pid))
  return all.filter(
    ({ pid, commandLine }) => /^\S*qemu-system/.test(commandLine) && keepers.has(parentOf(pid)),
  )
}

/** A process and all that it started, directly or not. */
export function familyOf(pid: number): readonly number[] {
  const parents = allProcesses().map((one) => [one.pid, parentOf(one.pid)] as const)
  const family = [pid]
  for (const member of family) {
    family.push(...parents.filter(([, parent]) => parent === member).map(([child]) => child))
  }
  return family
}

/** The command's name, in parentheses, may hold anything; the parent is the second field after it. */
function parentOf(pid: number): number {
  return Number(/\) \S+ (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1])
}

function allProcesses(): readonly ProcessSeen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({
      pid: Number(name),
      commandLine: read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim(),
    }))
    .filter(({ commandLine }) => commandLine !== '')
}

/** A process that ended meanwhile has nothing to read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
