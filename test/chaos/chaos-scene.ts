import assert from 'node:assert/strict'
import { layWire } from '../support/host-machines.ts'
import type { Machine } from '../support/host-machines.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import { startStack } from '../support/stack.ts'
import { steppedClock } from './stepped-clock.ts'
import type { Stack } from '../support/stack.ts'

/** A control plane whose machine is the host `local`, and two further hosts. */
export interface ChaosScene {
  readonly stack: Stack
  readonly names: PublicNames
  readonly machines: Readonly<Record<FurtherHost, Machine>>
  /** The data directory of each host. */
  readonly dataDirs: Readonly<Record<HostName, string>>
  remove(): Promise<void>
}

export const furtherHosts = ['h2', 'h3'] as const
export type FurtherHost = (typeof furtherHosts)[number]
export const hostNames = ['local', ...furtherHosts] as const
export type HostName = (typeof hostNames)[number]

/** Short, so that a run has losses. It is longer than any outage of the control plane in a run. */
export const termS = 20
/**
 * The size of the disk of each further host, so that it can be full. Its file grows with what is written.
 */
const diskMb = 6_144

export async function openChaosScene(): Promise<ChaosScene> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const wire = layWire(furtherHosts, { diskMb })
    undo.push(async () => await wire.remove())
    const [h2, h3] = wire.machines as readonly [Machine, Machine]
    const stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address, ROOST_HOST_LOSS_S: String(termS) })
    undo.push(async () => await stack.remove())
    const roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    undo.push(async () => await roost.remove())
    const machines = { h2, h3 }
    for (const name of furtherHosts) {
      const { out, err, code } = await roost.run(['host', 'invite', '--name', name])
      assert.equal(code, 0, err)
      const machine = machines[name]
      const { isHost } = await machine.join(out.trim().split(' ').slice(3), steppedClock(machine.dataDir))
      assert.ok(isHost, machine.output())
      undo.push(async () => await machine.stop())
    }
    const names = openPublicNames(stack)
    undo.push(async () => await names.close())
    const dataDirs = { local: stack.dataDir, h2: h2.dataDir, h3: h3.dataDir }
    return { stack, names, machines, dataDirs, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
