import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { meshInterfaceName } from '../../src/host/network/address-plan.ts'
import { layWire } from './host-machines.ts'
import type { Machine } from './host-machines.ts'
import { virtualMachinesByInstance } from './processes.ts'
import { openPublicNames } from './public-names.ts'
import type { PublicNames } from './public-names.ts'
import { createRoostProgram } from './roost-program.ts'
import type { RoostProgram } from './roost-program.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'
import type { WireRecording } from './wire-recording.ts'

/**
 * A control plane with the hosts `h2` and `h3`. Everything is placed on these two, because the first host is
 * cordoned. The wire between the three machines is recorded from the beginning.
 */
export interface HostPair {
  readonly stack: Stack
  readonly roost: RoostProgram
  readonly names: PublicNames
  readonly recording: WireRecording
  readonly machines: Readonly<Record<HostName, Machine>>
  readonly joinTokens: readonly string[]
  /** The host on which the API says that the instance is. */
  hostOf(instance: string): Promise<HostName>
  /** Verifies that of two instances each is on a host of its own, where its VM runs. */
  verifyApart(instances: readonly string[]): Promise<void>
  remove(): Promise<void>
}

export const hostNames = ['h2', 'h3'] as const
export type HostName = (typeof hostNames)[number]

export async function openHostPair(): Promise<HostPair> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const wire = layWire(hostNames)
    undo.push(async () => await wire.remove())
    const recording = await wire.record()
    undo.push(async () => await recording.remove())
    const stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address })
    undo.push(async () => await stack.remove())
    const roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    undo.push(async () => await roost.remove())
    const [h2, h3] = wire.machines as readonly [Machine, Machine]
    const machines = { h2, h3 }
    const joinTokens = await Promise.all(
      hostNames.map(async (name) => await join(roost, name, machines[name])),
    )
    // The hosts stop before the control plane, as machines do that are switched off in order.
    undo.push(async () => await Promise.all([h2.stop(), h3.stop()]))
    await stack.api.one('cordonHosts', { object: 'local' })
    const names = openPublicNames(stack)
    undo.push(async () => await names.close())
    const hostOf = async (object: string): Promise<HostName> => {
      const { host } = await stack.api.one('explainInstances', { object })
      assert.ok(host === 'h2' || host === 'h3', `${object} is on ${host}`)
      return host
    }
    const verifyApart = async (instances: readonly string[]): Promise<void> => {
      const hosts = await Promise.all(instances.map(hostOf))
      assert.deepEqual([...hosts].sort(), hostNames)
      for (const [index, host] of hosts.entries()) {
        const running = virtualMachinesByInstance(machines[host].dataDir)
        assert.equal(running.get(instances[index]!)?.length, 1, `its VM runs on ${host}`)
      }
    }
    return { stack, roost, names, recording, machines, joinTokens, hostOf, verifyApart, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function join(roost: RoostProgram, name: string, machine: Machine): Promise<string> {
  const { out, err, code } = await roost.run(['host', 'invite', '--name', name])
  assert.equal(code, 0, err)
  const [, address, token] = /^npx roost join (\S+) (\S+)\n$/.exec(out) ?? []
  assert.ok(address !== undefined && token !== undefined, out)
  assert.ok((await machine.join([address, token])).isHost, machine.output())
  return token
}

/** The public keys of the machines to which a machine's tunnel leads. */
export function meshPeers(dataDir: string): readonly string[] {
  return wg(dataDir, 'peers').split('\n').filter(Boolean)
}

export function meshKey(dataDir: string): string {
  return wg(dataDir, 'public-key').trim()
}

/** `wg` finds the tunnel of another namespace, because wireguard-go listens at a file. */
function wg(dataDir: string, what: string): string {
  return execFileSync('wg', ['show', meshInterfaceName(path.join(dataDir, 'agent')), what], {
    encoding: 'utf8',
  })
}
