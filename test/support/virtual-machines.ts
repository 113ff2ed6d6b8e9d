import { readFileSync, readdirSync } from 'node:fs'

export interface VirtualMachineProcess {
  readonly pid: number
  readonly commandLine: string
}

/** The VM processes (not their keepers) whose command line names `place`: an instance, or the directory of a stack. */
export function virtualMachinesOf(place: string): readonly VirtualMachineProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), commandLine: commandLineOf(name) }))
    .filter(({ commandLine }) => /^\S*qemu-system/.test(commandLine) && commandLine.includes(place))
}

/** A process that ended meanwhile has none. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
