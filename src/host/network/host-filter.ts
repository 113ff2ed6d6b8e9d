import { SerialQueue } from '../agent/serial-queue.ts'
import type { AddressPlan } from './address-plan.ts'
import { CommandError } from './commands.ts'
import type { Commands } from './commands.ts'
import { ConnectionTable } from './connection-table.ts'
import { parseDropCounters } from './drop-counters.ts'
import { hostFilter } from './filter-rules.ts'
import type { Outbound } from './filter-rules.ts'
import { flowLimitsFor } from './flow-limits.ts'
import type { FlowLimits } from './flow-limits.ts'
import { checkOpening, replaceOpenings, serveCallers } from './mesh-rules.ts'
import { serveNames } from './name-rules.ts'
import type { NetworkLoad } from './network.ts'
import { changeSeat } from './seat-rules.ts'

/** The table size of a host with 1 to 4 GiB. It is assumed if the kernel does not tell the size. */
const smallTableMax = 65_536

export interface HostFilterOptions {
  readonly plan: AddressPlan
  readonly commands: Commands
  /** Whether instances may reach the outside. It works only if the host has a default route. */
  readonly outbound?: boolean
  readonly connectionTable?: ConnectionTable
  /** The addresses of other hosts' networks that instances of this host have now. */
  readonly seated: () => readonly string[]
  readonly warn: (message: string) => void
}

/**
 * The host's packet filter for one agent. It says where instances may go, and how much of the connection
 * table they may take.
 */
export class HostFilter {
  readonly #options: HostFilterOptions
  readonly #connectionTable: ConnectionTable
  #servesNames = false
  /** The port at which other machines call the agent. Undefined: they can not. */
  #calledPort: number | undefined
  /** The machines of the mesh that reach a port of the host, by the port. */
  readonly #openPorts = new Map<number, readonly string[]>()
  readonly #turns = new SerialQueue()
  #outbound: Outbound | undefined

  constructor(options: HostFilterOptions) {
    this.#options = options
    this.#connectionTable = options.connectionTable ?? new ConnectionTable()
  }

  /**
   * Loads the filter. The size of the connection table can be read only once the kernel tracks connections,
   * and a loaded filter makes the kernel do that. A kernel that does not know the rules for the bounds gets
   * the filter without bounds, because the rules of reach matter more.
   */
  async open(): Promise<void> {
    this.#outbound = await this.#findOutbound()
    const known = await this.#connectionTable.max()
    if (known === undefined) await this.#replace(undefined)
    const tableMax = known ?? (await this.#connectionTable.max()) ?? smallTableMax
    try {
      await this.#replace(flowLimitsFor(tableMax))
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      await this.#replace(undefined)
      this.#options.warn(
        `this kernel does not bound the connections of instances, so one alone can fill the host's table of them: ${error.message}`,
      )
    }
  }

  /**
   * Switches forwarding on for the two interfaces alone. The host must not become a router for its other
   * networks.
   */
  async forward(): Promise<void> {
    if (this.#outbound !== undefined) await this.#forwardBetween(this.#outbound.uplink)
  }

  /** The same for the way into the mesh. An interface of the mesh that does not exist yet is left out. */
  async forwardMesh(): Promise<void> {
    const { commands, plan } = this.#options
    const links = await commands.run(['ip', '-o', 'link', 'show', 'up'])
    if (links.includes(`: ${plan.mesh}: `)) await this.#forwardBetween(plan.mesh)
  }

  async #forwardBetween(other: string): Promise<void> {
    const names = [this.#options.plan.bridge, other]
    const files = names.map((name) => `/proc/sys/net/ipv4/conf/${name}/forwarding`)
    await this.#options.commands.run(['tee', ...files], '1\n')
  }

  /** Lets instances ask for names at the host's address. Called once the nameserver answers there. */
  async admitDns(): Promise<void> {
    this.#servesNames = true
    await this.#nft(serveNames(this.#options.plan))
  }

  /** Lets gateways, APIs and workers of other machines call this port of the host's address in the mesh. */
  async admitCallers(port: number): Promise<void> {
    this.#calledPort = port
    await this.#nft(serveCallers(this.#options.plan, port))
  }

  /** See `Network.openTo`. Throws `AddressError` if an argument can be no port or no address. */
  async openTo(port: number, addresses: readonly string[]): Promise<void> {
    checkOpening(port, addresses)
    await this.#turns.run(async () => {
      if (addresses.length === 0) this.#openPorts.delete(port)
      else this.#openPorts.set(port, [...new Set(addresses)])
      await this.#nft(replaceOpenings(this.#options.plan, this.#openPorts))
    })
  }

  /**
   * Makes the bridge answer ARP requests for what this host reaches through another interface, at once. The
   * filter of the bridge keeps back all answers but those that instances may get, so there are none without
   * that filter.
   */
  async answerArp(isAnswered: boolean): Promise<void> {
    const { commands, plan } = this.#options
    await commands.run(['tee', `/proc/sys/net/ipv4/neigh/${plan.bridge}/proxy_delay`], '0\n')
    const file = `/proc/sys/net/ipv4/conf/${plan.bridge}/proxy_arp`
    await commands.run(['tee', file], isAnswered ? '1\n' : '0\n')
  }

  async load(): Promise<NetworkLoad | undefined> {
    const [flows, maxFlows] = await Promise.all([
      this.#connectionTable.entries(),
      this.#connectionTable.max(),
    ])
    if (flows === undefined || maxFlows === undefined) return undefined
    const { commands, plan } = this.#options
    const counters = await commands.run(['nft', '-j', 'list', 'counters'])
    return { flows, maxFlows, dropped: parseDropCounters(counters, plan.table) }
  }

  async #replace(flows: FlowLimits | undefined): Promise<void> {
    const { plan, seated } = this.#options
    const served = this.#servesNames ? serveNames(plan) : ''
    const called = this.#calledPort === undefined ? '' : serveCallers(plan, this.#calledPort)
    await this.#turns.run(async () => {
      const rules = hostFilter(plan, { outbound: this.#outbound, flows })
      const seats = seated().map((ip) => changeSeat('add', plan, ip))
      const openings = replaceOpenings(plan, this.#openPorts)
      await this.#nft([rules, served, called, ...seats, openings].join(''))
    })
  }

  async #findOutbound(): Promise<Outbound | undefined> {
    const { outbound, commands, warn } = this.#options
    if (outbound !== true) return undefined
    const routes = await commands.run(['ip', '-o', '-4', 'route', 'show', 'default'])
    const uplink = / dev (\S+)/.exec(routes)?.[1]
    if (uplink !== undefined) return { uplink }
    warn('outbound access is on but this host has no default route; instances reach nothing outside')
    return undefined
  }

  async #nft(rules: string): Promise<void> {
    await this.#options.commands.run(['nft', '-f', '-'], rules)
  }
}
