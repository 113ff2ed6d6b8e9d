import assert from 'node:assert/strict'
import { layWire } from './host-machines.ts'
import type { Machine } from './host-machines.ts'
import { openPublicNames } from './public-names.ts'
import type { PublicNames } from './public-names.ts'
import { createRoostProgram } from './roost-program.ts'
import type { RoostProgram } from './roost-program.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'
import { openWitness } from './witness.ts'
import type { Witness } from './witness.ts'

/**
 * A control plane whose machine is the host `local`, and the hosts `h2` and `h3`. The host `h2` is the one
 * that gets lost. A witness asks from within the namespace of each.
 */
export interface LossScene {
  readonly stack: Stack
  readonly roost: RoostProgram
  readonly names: PublicNames
  readonly witness: Witness
  readonly lost: Machine
  /** The term of the hosts, in seconds. */
  readonly termS: number
  /** Has new instances placed on the host that gets lost, or on every host. */
  placeOn(hosts: 'h2' | 'all'): Promise<void>
  remove(): Promise<void>
}

export const lostHost = 'h2'
const otherHosts = ['local', 'h3'] as const
/** The shortest that the setting takes, so that a test need not wait for long. */
export const shortTermS = 10

export async function openLossScene(termS = shortTermS): Promise<LossScene> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const wire = layWire([lostHost, 'h3'])
    undo.push(async () => await wire.remove())
    const [lost, other] = wire.machines as readonly [Machine, Machine]
    const stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address, ROOST_HOST_LOSS_S: String(termS) })
    undo.push(async () => await stack.remove())
    const roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    undo.push(async () => await roost.remove())
    for (const machine of [lost, other]) {
      const { out, err, code } = await roost.run(['host', 'invite'])
      assert.equal(code, 0, err)
      assert.ok((await machine.join(out.trim().split(' ').slice(3))).isHost, machine.output())
      undo.push(async () => await machine.stop())
    }
    const names = openPublicNames(stack)
    undo.push(async () => await names.close())
    const witness = openWitness(names, {
      local: undefined,
      [lostHost]: lost.namespace,
      h3: other.namespace,
    })
    undo.push(async () => await witness.close())
    const placeOn = async (hosts: 'h2' | 'all'): Promise<void> => {
      for (const object of otherHosts)
        await stack.api.one(hosts === 'all' ? 'uncordonHosts' : 'cordonHosts', { object })
    }
    return { stack, roost, names, witness, lost, termS, placeOn, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
