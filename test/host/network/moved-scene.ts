import assert from 'node:assert/strict'
import { join } from 'node:path'
import { planAddresses, tapName } from '../../../src/host/network/address-plan.ts'
import type { AddressPlan } from '../../../src/host/network/address-plan.ts'
import type { NicSpec } from '../../../src/host/network/network.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { MeshScene, Program, servedPort } from '../mesh/mesh-scene.ts'
import type { SceneMachine } from '../mesh/mesh-scene.ts'

const peerWatchPath = join(requireInstalled(readInstalled(), 'guestDirectory'), 'peer-watch')
export const trafficProgram = join(import.meta.dirname, '../mesh/traffic-program.ts')

/**
 * A guest: a namespace whose interface stays as it is, with all that the guest knows of its neighbours, while
 * the cable behind it is plugged into another host. A namespace without addresses holds the end of the cable.
 */
export interface Guest {
  readonly namespace: string
  readonly cable: string
  readonly server: Program
  nic: NicSpec
}

/** Two hosts with instances, and a third machine. All are in the mesh. */
export class MovedScene {
  readonly mesh = new MeshScene()
  readonly networks = new Map<SceneMachine, TapNetwork>()
  readonly #guests: Guest[] = []
  /** The host of each guest. */
  readonly #hosts = new Map<Guest, SceneMachine>()
  #plugs = 0

  async open(): Promise<void> {
    await this.mesh.open({ addresses: false })
    for (const machine of this.mesh.machines.slice(0, 2)) {
      const network = new TapNetwork({
        directory: machine.directory,
        subnet: machine.network,
        outbound: true,
        commands: machine.commands,
        netDevPath: `/proc/${String(machine.traffic('serve', '1').child.pid)}/net/dev`,
        peerWatchPath,
        warn: (message) => assert.fail(message),
      })
      await network.open()
      this.networks.set(machine, network)
    }
    await this.mesh.connectAll()
  }

  async close(): Promise<void> {
    for (const network of this.networks.values()) await network.close()
    await this.mesh.close()
  }

  planOf({ directory, network }: SceneMachine): AddressPlan {
    return planAddresses({ directory, subnet: network })
  }

  networkOf(machine: SceneMachine): TapNetwork {
    return this.networks.get(machine)!
  }

  /** Adds a guest that begins on this host, with an address of the host's network. */
  async addGuest(machine: SceneMachine, userUuid: string, index: number): Promise<Guest> {
    const ip = machine.address.replace(/\.1$/, `.${String(index)}`)
    const [, , third = ''] = ip.split('.')
    const mac = `12:b0:00:00:${third}:0${String(index)}`
    const namespace = `${machine.namespace}-vm${String(index)}`
    const cable = `${namespace}-cable`
    for (const name of [namespace, cable]) this.mesh.addNamespace(name)
    this.mesh.ip('-n', cable, 'link', 'add', 'joint', 'type', 'bridge')
    this.mesh.ip('-n', cable, 'link', 'set', 'joint', 'up')
    this.mesh.ip('-n', namespace, ...`link add eth0 type veth peer name end netns ${cable}`.split(' '))
    this.mesh.ip('-n', cable, 'link', 'set', 'end', 'master', 'joint', 'up')
    this.mesh.ip('-n', namespace, 'link', 'set', 'eth0', 'address', mac)
    this.mesh.ip('-n', namespace, 'addr', 'add', `${ip}/20`, 'dev', 'eth0')
    this.mesh.ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    this.mesh.ip('-n', namespace, 'route', 'add', 'default', 'via', machine.address)
    const server = new Program(namespace, process.execPath, trafficProgram, 'serve', String(servedPort))
    await server.heard('ready')
    const instanceUuid = `00000000-0000-4000-8000-0000000${third}00${String(index)}`
    const guest: Guest = { namespace, cable, server, nic: { instanceUuid, userUuid, ip, mac } }
    this.#guests.push(guest)
    await this.plug(guest, machine)
    return guest
  }

  /** Plugs the guest into a host, with a seat if it needs one there. */
  async plug(guest: Guest, machine: SceneMachine, seat?: string): Promise<void> {
    const { seat: _before, ...nic } = guest.nic
    guest.nic = { ...nic, ...(seat !== undefined && { seat }) }
    const tap = tapName(this.planOf(machine), guest.nic)
    const plug = `plug${String(this.#plugs++)}`
    this.mesh.ip(
      '-n',
      machine.namespace,
      ...`link add ${tap} type veth peer name ${plug} netns ${guest.cable}`.split(' '),
    )
    this.mesh.ip('-n', guest.cable, 'link', 'set', plug, 'master', 'joint', 'up')
    await this.networkOf(machine).attach(guest.nic)
    this.#hosts.set(guest, machine)
  }

  /** Moves the guest, and tells all machines. */
  async move(guest: Guest, to: SceneMachine, seat?: string): Promise<void> {
    await this.networkOf(this.#hosts.get(guest)!).detach(guest.nic)
    await this.plug(guest, to, seat)
    await this.tellAll()
  }

  /** Tells all machines what the API would. Every machine has a gateway. */
  async tellAll(): Promise<void> {
    const members = await this.mesh.members()
    const machines = members.map((member, index) => {
      const moved = this.#guests.filter(
        (guest) => this.#hosts.get(guest) === this.mesh.machines[index] && guest.nic.seat !== undefined,
      )
      return { ...member, networks: [...member.networks, ...moved.map(({ nic }) => `${nic.ip}/32`)] }
    })
    for (const { mesh } of this.mesh.machines) await mesh.apply(machines)
    for (const [machine, network] of this.networks) {
      const elsewhere = this.#guests.filter((guest) => this.#hosts.get(guest) !== machine)
      await network.tellMesh({
        gateways: this.mesh.machines.map(({ address }) => address),
        instances: new Map(elsewhere.map(({ nic }) => [nic.ip, nic.userUuid])),
      })
    }
  }

  program(guest: Guest, ...args: readonly string[]): Program {
    return new Program(guest.namespace, process.execPath, trafficProgram, ...args)
  }

  connect(from: Guest, to: string, port = servedPort): Program {
    return this.program(from, 'connect', to, String(port), from.nic.ip)
  }

  async inGuest({ namespace }: Guest, ...command: readonly string[]): Promise<string> {
    const { commands } = this.mesh.machines[0]!
    return await commands.run(['ip', 'netns', 'exec', namespace, ...command])
  }
}
