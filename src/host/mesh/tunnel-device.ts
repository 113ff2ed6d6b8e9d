import { existsSync } from 'node:fs'
import { parseJson } from '../../domain/json-text.ts'
import { CommandError } from '../network/commands.ts'
import type { Commands } from '../network/commands.ts'
import { MeshError } from './mesh-error.ts'
import { parseDump } from './wireguard-peers.ts'
import type { WireguardState } from './wireguard-peers.ts'

const tunDevice = '/dev/net/tun'
const programFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** What the mesh needs of a machine; tests give other answers than the machine's own. */
export interface MachineFacts {
  readonly isRoot: boolean
  has(path: string): boolean
}

export const thisMachine: MachineFacts = { isRoot: process.getuid?.() === 0, has: existsSync }

/** The address and the size of packets that the interface should have. */
export interface WantedLink {
  readonly address: string
  readonly mtu: number
}

/** The part of what `ip -j addr` prints about an interface that matters here. */
interface Link {
  readonly flags: readonly string[]
  readonly mtu: number
  readonly addr_info: readonly {
    readonly family: string
    readonly local: string
    readonly prefixlen: number
  }[]
}

/**
 * The interface of WireGuard on a machine. If the kernel has the module, it is the kernel's. Otherwise a
 * process `wireguard-go` carries it, which outlives the process that started it. The interface exists exactly
 * as long as that process, so finding the one is finding the other.
 */
export class TunnelDevice {
  readonly name: string
  readonly #commands: Commands
  readonly #machine: MachineFacts

  constructor(name: string, commands: Commands, machine: MachineFacts = thisMachine) {
    this.name = name
    this.#commands = commands
    this.#machine = machine
  }

  /** Throws `MeshError` if this machine can have no such interface at all. */
  requireMachine(): void {
    if (!this.#machine.isRoot)
      throw new MeshError('only root can connect this machine to the others: start the agent as root')
    this.#requireProgram('wg', 'wireguard-tools')
  }

  /** What WireGuard says. Undefined if there is no interface, or if its process does not answer. */
  async state(): Promise<WireguardState | undefined> {
    try {
      return parseDump(await this.#commands.run(['wg', 'show', this.name, 'dump']))
    } catch (error) {
      if (error instanceof CommandError) return undefined
      throw error
    }
  }

  /**
   * Makes the interface anew. An interface of this name that does not answer as WireGuard is removed, which
   * ends its process.
   */
  async make(): Promise<void> {
    await this.remove()
    try {
      await this.#commands.run(['ip', 'link', 'add', this.name, 'type', 'wireguard'])
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      await this.#startProcess(error)
    }
  }

  /** Removes the interface, if it exists. */
  async remove(): Promise<void> {
    if ((await this.#link()) !== undefined) await this.#commands.run(['ip', 'link', 'del', this.name])
  }

  /** Changes the settings of WireGuard by arguments of `wg set`. A private key is only named by its file. */
  async set(args: readonly string[]): Promise<void> {
    await this.#commands.run(['wg', 'set', this.name, ...args])
  }

  /** Gives the interface its address and size, and switches it on. Returns whether anything was different. */
  async bringUp({ address, mtu }: WantedLink): Promise<boolean> {
    const link = await this.#link()
    const ipv4 = link?.addr_info.filter(({ family }) => family === 'inet') ?? []
    const addresses = ipv4.map(({ local, prefixlen }) => `${local}/${String(prefixlen)}`)
    const wanted = `${address}/32`
    const commands = [
      ...(link?.mtu === mtu ? [] : [`link set ${this.name} mtu ${String(mtu)}`]),
      // The new address comes before the old one goes, because routes end with the last address of theirs.
      ...(addresses.includes(wanted) ? [] : [`addr add ${wanted} dev ${this.name}`]),
      ...addresses.filter((one) => one !== wanted).map((one) => `addr del ${one} dev ${this.name}`),
      ...(link?.flags.includes('UP') === true ? [] : [`link set ${this.name} addrgenmode none up`]),
    ]
    if (commands.length > 0) await this.#commands.run(['ip', '-batch', '-'], `${commands.join('\n')}\n`)
    return commands.length > 0
  }

  /** `setsid`, because a signal to our process group must not end the process of the interface. */
  async #startProcess(cause: Error): Promise<void> {
    this.#requireProgram('wireguard-go', 'wireguard-go')
    if (!this.#machine.has(tunDevice)) {
      throw new MeshError(
        `this machine has neither the kernel's module for WireGuard nor ${tunDevice}, without which wireguard-go can not run: load ` +
          'one of the modules wireguard and tun',
        { cause },
      )
    }
    try {
      await this.#commands.run(['setsid', 'wireguard-go', this.name])
    } catch (error) {
      throw new MeshError(`wireguard-go could not make the interface ${this.name}`, { cause: error })
    }
  }

  #requireProgram(program: string, debianPackage: string): void {
    if (programFolders.some((folder) => this.#machine.has(`${folder}/${program}`))) return
    throw new MeshError(
      `this machine has no program ${program}, which the network between the machines needs: install the package ${debianPackage}`,
    )
  }

  /** The interface as the kernel knows it; undefined if there is none. */
  async #link(): Promise<Link | undefined> {
    try {
      const found = parseJson(await this.#commands.run(['ip', '-j', 'addr', 'show', 'dev', this.name]))
      return Array.isArray(found) ? (found[0] as Link | undefined) : undefined
    } catch (error) {
      if (error instanceof CommandError) return undefined
      throw error
    }
  }
}
