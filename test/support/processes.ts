import { readFileSync, readdirSync } from 'node:fs'

export interface ProcessSeen {
  readonly pid: number
  readonly commandLine: string
}

/**
 * Every living process that names the directory in its command line or its environment, and the VMs of the
 * keepers among these processes.
 */
export function processesOf(directory: string): readonly ProcessSeen[] {
  const named = allProcesses().filter(
    ({ pid, commandLine }) =>
      commandLine.includes(directory) || read(`/proc/${pid}/environ`).includes(directory),
  )
  return [...named, ...virtualMachinesOf(directory)]
}

/**
 * The VM processes of `place`, which is the UUID of an instance or the data directory of a stack. A VM's own
 * command line names no file. So the VM is found by the command line of its keeper, which names the
 * instance's directory.
 */
export function virtualMachinesOf(place: string): readonly ProcessSeen[] {
  const all = allProcesses()
  const keepers = new Set(all.filter((one) => one.commandLine.includes(place)).map(({ pid }) => pid))
  return all.filter(
    ({ pid, commandLine }) => /^\S*qemu-system/.test(commandLine) && keepers.has(parentOf(pid)),
  )
}

/** The process numbers of the VMs of every instance of a stack, read at once. */
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
 * Halts a process and all that it started, directly or not, with SIGSTOP. Repeats that until no process is
 * left that could start another one.
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

/** Sends a signal to all of the processes that have not ended meanwhile. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** The arguments of a process with spaces between; empty if it has ended. */
export function commandLineOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
}

/** Roost's control groups that a process is in, a line for each hierarchy. */
export function groupsOf(pid: number): readonly string[] {
  return read(`/proc/${pid}/cgroup`)
    .split('\n')
    .filter((line) => line.includes('/roost-'))
}

/**
 * The parent of a process. Its number is the second field after the command's name. That name stands in
 * parentheses and may hold anything.
 */
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

/** The text of a file; empty if the process has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
