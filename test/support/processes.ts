import { readFileSync, readdirSync } from 'node:fs'

export interface ProcessSeen {
  readonly pid: number
  readonly commandLine: string
}

/**
 * Every living process that names the directory in its command line or its environment, and the VMs of such.
 */
export function processesOf(directory: string): readonly ProcessSeen[] {
  const named = allProcesses().filter(
    ({ pid, commandLine }) =>
      commandLine.includes(directory) || read(`/proc/${pid}/environ`).includes(directory),
  )
  return [...named, ...virtualMachinesOf(directory)]
}

/**
 * The VM processes of `place`, an instance or the directory of a stack. A VM's own command line names no
 * file, so it is found by its keeper's, which names the instance's directory.
 */
export function virtualMachinesOf(place: string): readonly ProcessSeen[] {
  const all = allProcesses()
  const keepers = new Set(all.filter((one) => one.commandLine.includes(place)).map(({ pid }) => pid))
  return all.filter(
    ({ pid, commandLine }) => /^\S*qemu-system/.test(commandLine) && keepers.has(parentOf(pid)),
  )
}

/** The process numbers of the VMs of every instance of a stack, in one look. */
export function virtualMachinesByInstance(dataDir: string): ReadonlyMap<string, readonly number[]> {
  const all = allProcesses()
  const keepers = new Map(
    all.flatMap(({ pid, commandLine }) => {
      const uuid = commandLine.includes(dataDir)
        ? /\/instances\/([0-9a-f-]{36})/.exec(commandLine)?.[1]
        : undefined
      return uuid === undefined ? [] : [[pid, uuid] as const]
    }),
  )
  const machines = new Map<string, number[]>()
  for (const { pid, commandLine } of all) {
    if (!/^\S*qemu-system/.test(commandLine)) continue
    const uuid = keepers.get(parentOf(pid))
    if (uuid !== undefined) machines.set(uuid, [...(machines.get(uuid) ?? []), pid])
  }
  return machines
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

/**
 * Stops a process and all that it started, directly or not, until nobody of them is left who could start
 * another one.
 */
export function stopFamily(pid: number): readonly number[] {
  const stopped = new Set<number>()
  for (let found: readonly number[] = [pid]; found.length > 0;) {
    signalAll(found, 'SIGSTOP')
    for (const one of found) stopped.add(one)
    found = familyOf(pid).filter((one) => !stopped.has(one))
  }
  return [...stopped]
}

/** Some live for a moment only, and have ended since they were seen. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** Its arguments with a space between each two; empty for one that has ended. */
export function commandLineOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
}

/** The control groups of ours that a process is in, a line for each hierarchy. */
export function groupsOf(pid: number): readonly string[] {
  return read(`/proc/${pid}/cgroup`)
    .split('\n')
    .filter((line) => line.includes('/roost-'))
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
      commandLine: commandLineOf(Number(name)),
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
