import { setTimeout as delay } from 'node:timers/promises'
import type { Dice } from '../sim/dice.ts'
import { losses } from '../support/host-losses.ts'
import type { LossWay } from '../support/host-losses.ts'
import { signalAll, stopFamily, virtualMachinesByInstance } from '../support/processes.ts'
import { furtherHosts, hostNames, termS } from './chaos-scene.ts'
import type { ChaosScene } from './chaos-scene.ts'
import { stepClock } from './stepped-clock.ts'

/** The parts of the control plane's machine that may die. */
const mortalParts = ['gateway', 'agent', 'worker', 'api', 'postgres', 'temporal'] as const
/** The services that may be away for a while, as a machine that swaps. */
const services = ['postgres', 'temporal'] as const
const lossWays = ['cut', 'without agent', 'killed'] as const satisfies readonly LossWay[]
/** In seconds. Some hosts come back before they count as lost, and some after that. */
const lostForS = { least: 2, most: termS + 12 }
const awayForS = { least: 2, most: 10 }
const slowForS = { least: 5, most: 20 }
const fullForS = { least: 5, most: 20 }
const clockStepS = { least: 1, most: 3_600 }
const steppedForS = { least: 2, most: 15 }

/** What happens to the machines. Each resolves when it is over, and says what it was. */
export type Disturbance = (scene: ChaosScene, dice: Dice, say: (text: string) => void) => Promise<void>

/** Says what is so, and lets it be so for a time that the dice decide. */
async function forAWhile(
  what: string,
  seconds: { readonly least: number; readonly most: number },
  dice: Dice,
  say: (text: string) => void,
): Promise<void> {
  const forS = dice.between(seconds.least, seconds.most)
  say(`${what} for ${forS.toFixed(0)} s`)
  await delay(forS * 1_000)
}

export const disturbances = {
  'a part dies': async ({ stack }, dice, say) => {
    const part = dice.pick(mortalParts)
    say(`${part} dies`)
    await stack.killPart(part)
  },

  'an agent dies': async ({ machines }, dice, say) => {
    const host = dice.pick(furtherHosts)
    say(`the agent of ${host} dies`)
    await machines[host].killPart('agent')
  },

  'a VM dies': async ({ dataDirs }, dice, say) => {
    const host = dice.pick(hostNames)
    const all = [...virtualMachinesByInstance(dataDirs[host]).values()].flat()
    if (all.length === 0) return
    const pid = dice.pick(all)
    say(`VM ${pid} of ${host} dies`)
    signalAll([pid], 'SIGKILL')
  },

  'a host is lost': async ({ machines }, dice, say) => {
    const host = dice.pick(furtherHosts)
    const way = dice.pick(lossWays)
    const forS = dice.between(lostForS.least, lostForS.most)
    say(`${host} is lost for ${forS.toFixed(0)} s: ${way}`)
    await losses[way].lose(machines[host], new Set())
    await delay(forS * 1_000)
    await losses[way].bringBack(machines[host], new Set())
    say(`${host} is back`)
  },

  'a link is slow': async ({ machines }, dice, say) => {
    const host = dice.pick(furtherHosts)
    machines[host].slowWire()
    await forAWhile(`the link of ${host} is slow`, slowForS, dice, say)
    machines[host].mendWire()
  },

  'a disk is full': async ({ machines }, dice, say) => {
    const host = dice.pick(furtherHosts)
    machines[host].fillDisk()
    await forAWhile(`the disk of ${host} is full`, fullForS, dice, say)
    machines[host].freeDisk()
  },

  'a clock steps': async ({ machines }, dice, say) => {
    const host = dice.pick(furtherHosts)
    const byS = dice.stretched(clockStepS.least, clockStepS.most) * (dice.chance(0.5) ? 1 : -1)
    const forS = dice.between(steppedForS.least, steppedForS.most)
    say(`the clock of ${host} steps by ${byS.toFixed(0)} s, and back after ${forS.toFixed(0)} s`)
    stepClock(machines[host].dataDir, byS * 1_000)
    await delay(forS * 1_000)
    stepClock(machines[host].dataDir, 0)
  },

  'a service is away': async ({ stack }, dice, say) => {
    const part = dice.pick(services)
    const halted = stopFamily(stack.pidOf(part))
    try {
      await forAWhile(`${part} is away`, awayForS, dice, say)
    } finally {
      signalAll(halted, 'SIGCONT')
    }
  },
} satisfies Readonly<Record<string, Disturbance>>

export type DisturbanceName = keyof typeof disturbances
export const disturbanceNames = Object.keys(disturbances) as readonly DisturbanceName[]
