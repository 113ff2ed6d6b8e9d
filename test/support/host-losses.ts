import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Machine } from './host-machines.ts'
import { signalAll } from './processes.ts'
import type { ProcessSeen } from './processes.ts'
import { until } from './until.ts'

/** The ways in which a host is lost, and in which it comes back. */
export const lossWays = ['cut', 'without agent', 'killed', 'stopped'] as const
export type LossWay = (typeof lossWays)[number]

export interface Loss {
  /** Whether the VMs of the host have to be gone by the end of its term. Halted ones can not go. */
  readonly endsMachines: boolean
  /** `spared` are processes in the machine's namespace that are not its own. */
  lose(machine: Machine, spared: ReadonlySet<number>): Promise<void>
  bringBack(machine: Machine, spared: ReadonlySet<number>): Promise<void>
}

const endLimitMs = 10_000
/** How long the VMs of a host that was halted go on before its other processes do. */
const headStartMs = 500

export const losses: Readonly<Record<LossWay, Loss>> = {
  /** No frame comes or goes. All processes go on. */
  cut: {
    endsMachines: true,
    async lose(machine) {
      machine.cutWire()
    },
    async bringBack(machine) {
      machine.mendWire()
    },
  },
  /** Nobody is there to end the VMs, whose keepers go on. Nothing starts the agent again. */
  'without agent': {
    endsMachines: true,
    async lose(machine, spared) {
      const isHead = ({ commandLine }: ProcessSeen) => / join\b|bin\/agent\.ts/.test(commandLine)
      await kill(() => ownProcesses(machine, spared).filter(isHead))
    },
    bringBack: joinAgain,
  },
  /** As when the machine lost its power. */
  killed: {
    endsMachines: true,
    async lose(machine, spared) {
      await kill(() => ownProcesses(machine, spared))
    },
    bringBack: joinAgain,
  },
  /**
   * As when a hypervisor halts the machine: no process sees the time pass. Its VMs go on first, before keeper
   * and agent could end them.
   */
  stopped: {
    endsMachines: false,
    async lose(machine, spared) {
      const stopped = new Set<number>()
      for (;;) {
        const found = ownProcesses(machine, spared).filter(({ pid }) => !stopped.has(pid))
        if (found.length === 0) return
        for (const { pid } of found) stopped.add(pid)
        signalAll(pidsOf(found), 'SIGSTOP')
      }
    },
    async bringBack(machine, spared) {
      const all = ownProcesses(machine, spared)
      const isVm = ({ commandLine }: ProcessSeen) => /^\S*qemu-system/.test(commandLine)
      signalAll(pidsOf(all.filter(isVm)), 'SIGCONT')
      await delay(headStartMs)
      signalAll(pidsOf(all), 'SIGCONT')
    },
  },
}

function ownProcesses(machine: Machine, spared: ReadonlySet<number>): readonly ProcessSeen[] {
  return machine.processes().filter(({ pid }) => !spared.has(pid) && pid !== process.pid)
}

function pidsOf(found: readonly ProcessSeen[]): readonly number[] {
  return found.map(({ pid }) => pid)
}

/** Kills what is found until nothing is: a process may start another one meanwhile. */
async function kill(find: () => readonly ProcessSeen[]): Promise<void> {
  await until(
    'the processes have ended',
    () => {
      const found = find()
      signalAll(pidsOf(found), 'SIGKILL')
      return found.length === 0
    },
    { limitMs: endLimitMs },
  )
}

async function joinAgain(machine: Machine): Promise<void> {
  if (!(await machine.join([])).isHost) throw new Error(`it did not join again:\n${machine.output()}`)
}
