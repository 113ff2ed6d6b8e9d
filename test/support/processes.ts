import { readFileSync, readdirSync } from 'node:fs'

export interface ProcessSeen {
  readonly pid: number
  readonly commandLine: string
}

/** Every living process that names the directory in its command line or its environment. */
export function processesOf(directory: string): readonly ProcessSeen[] {
  return allProcesses().filter(
    ({ pid, commandLine }) =>
      commandLine.includes(directory) || read(`/proc/${pid}/environ`).includes(directory),
  )
}

/** The VM processes (not their keepers) whose command line names `place`: an instance, or the directory of a stack. */
export function virtualMachinesOf(place: string): readonly ProcessSeen[] {
  return allProcesses().filter(
    ({ commandLine }) => /^\S*qemu-system/.test(commandLine) && commandLine.includes(place),
  )
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
