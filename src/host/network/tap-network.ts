import { readFile } from 'node:fs/promises'
import { hostsNetwork } from '../../domain/host/private-address.ts'
import { agentUid, bridgeMac, hostPart, ownerUid, planAddresses, tapName } from './address-plan.ts'
import type { AddressPlan } from './address-plan.ts'
import { CommandError, Commands } from './commands.ts'
import type { ConnectionTable } from './connection-table.ts'
import { bind, bridgeFilter, noFilters, receivedSet, unbind } from './filter-rules.ts'
import type { BoundVm } from './filter-rules.ts'
import { HostFilter } from './host-filter.ts'
import { parseNetDev } from './net-dev.ts'
import type { InterfaceCounters } from './net-dev.ts'
import type { Attachment, Network, NetworkLoad, NicCounters, NicSpec } from './network.ts'
import { MeshFilter } from './mesh-filter.ts'
import type { OtherMachines } from './mesh-filter.ts'
import { occupiedSubnets, refuseOccupied } from './occupied-subnets.ts'
import { span } from '../../primitives/spans.ts'
import { parsePeerCounters } from './peer-counters.ts'
import { PeerWatch } from './peer-watch.ts'
import { SharedReading } from './shared-reading.ts'
import { openTunDevice } from './tun-device.ts'
import { UserNumbers } from './user-numbers.ts'

export interface TapNetworkOptions {
  /**
   * The agent's directory. Names on the host are made from it, so that two agents do not use the same ones.
   */
  readonly directory: string
  /** The network of this host's instances: a /20 or a /16. */
  readonly subnet: string
  /** Whether instances may reach the outside. It works only if the host has a default route. */
  readonly outbound?: boolean
  /**
   * The bandwidth of each instance in each direction. Without it an instance may take all that the host has.
   */
  readonly bandwidthMbit?: number
  /**
   * The path of the program that `guest/build.mjs` built. Without it, packets of peers to an instance in
   * standby go unnoticed.
   */
  readonly peerWatchPath?: string
  readonly warn: (message: string) => void
  /**
   * Runs the tools; tests give one for a network namespace. The two sources below belong to the same
   * network.
   */
  readonly commands?: Commands
  readonly netDevPath?: string
  readonly connectionTable?: ConnectionTable
}

/**
 * An attachment that this process knows. It is put into the map before it is made, with `complete` false,
 * and taken out after it was removed.
 */
interface Attached {
  readonly nic: NicSpec
  readonly vm: BoundVm
  complete: boolean
  standing: boolean
  /** Whether the first packet of a peer has been reported in this standby. */
  told: boolean
}

/**
 * A network with one bridge per agent and one TAP device per instance that runs or is in standby (the kernel
 * allows 1023 on a bridge). It needs root. The bridge's filter lets the ports of one user reach each other;
 * if the kernel has no such filter, all ports are isolated.
 *
 * `attach` runs two processes side by side, `ip -batch` and `nft`, in about 5 ms together. It runs none if
 * this process has attached the address before, as after standby. The neighbour entry is permanent because
 * otherwise a VM's first answer to ARP comes a second late. The bridge's own MAC is fixed because the kernel
 * forgets even permanent entries when a bridge takes another MAC with its first port.
 */
export class TapNetwork implements Network {
  readonly #plan: AddressPlan
  readonly #options: TapNetworkOptions
  readonly #commands: Commands
  readonly #netDevPath: string
  readonly #hostFilter: HostFilter
  readonly #meshFilter: MeshFilter
  readonly #attached = new Map<string, Attached>()
  readonly #users = new UserNumbers()
  /** The last task of each address. Tasks for one address run one after another. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #peerListeners: ((nic: NicSpec) => void)[] = []
  readonly #peerWatch: PeerWatch | undefined
  readonly #peerCounters: SharedReading<ReadonlyMap<string, number>>
  /** False if the kernel has no packet filter for bridges. Then a VM could take another VM's address. */
  #filtersBridge = false

  constructor(options: TapNetworkOptions) {
    this.#options = options
    this.#plan = planAddresses(options)
    this.#commands = options.commands ?? new Commands()
    this.#netDevPath = options.netDevPath ?? '/proc/self/net/dev'
    this.#hostFilter = new HostFilter({ ...options, plan: this.#plan, commands: this.#commands })
    this.#meshFilter = new MeshFilter({
      plan: this.#plan,
      commands: this.#commands,
      users: this.#users,
      filtersBridge: () => this.#filtersBridge,
    })
    this.#peerWatch = this.#makePeerWatch(options.peerWatchPath)
    this.#peerCounters = new SharedReading(async () => await this.#readPeerCounters())
  }

  /** The host's address in its instances' network: it is their gateway and nameserver. */
  get hostAddress(): string {
    return this.#plan.hostAddress
  }

  /** Throws `SubnetOccupied` if another interface of the host has an address in the subnet. */
  async open(): Promise<void> {
    if (this.#peerWatch !== undefined) await openTunDevice(this.#options.warn)
    const { bridge, hostAddress, subnet, prefixLength } = this.#plan
    refuseOccupied(subnet, await occupiedSubnets(this.#commands, this.#options.directory))
    if (!(await this.#interfaces()).has(bridge)) await this.#ip([`link add ${bridge} type bridge`])
    const wanted = `${hostAddress}/${String(prefixLength)}`
    const addresses = await this.#commands.run(['ip', '-o', '-4', 'addr', 'show', 'dev', bridge])
    await this.#ip([
      `link set ${bridge} addrgenmode none address ${bridgeMac(this.#plan)}`,
      ...(addresses.includes(` ${wanted} `)
        ? []
        : [`addr flush dev ${bridge}`, `addr add ${wanted} dev ${bridge}`]),
      // Frames of a bridge's own protocols pass no filter, so the bridge must not learn MACs from them.
      `link set ${bridge} type bridge no_linklocal_learn 1`,
      `link set ${bridge} up`,
    ])
    await this.#hostFilter.open()
    await this.#openBridgeFilter()
    await this.#meshFilter.reload()
    await this.#hostFilter.forward()
  }

  /** Lets instances ask for names at `hostAddress`. Called once the nameserver answers there. */
  async admitDns(): Promise<void> {
    await this.#hostFilter.admitDns()
  }

  /**
   * Connects this host's instances with the mesh: gateways of these machines reach all of them, and
   * instances reach those of their user on other hosts. On a kernel that does not filter on bridges,
   * gateways alone are let in, because an instance could take any address there. Packets of instances on
   * other hosts wake those in standby here and keep them awake; packets of gateways and of the host itself
   * do not.
   */
  async tellMesh(others: OtherMachines): Promise<void> {
    await this.#meshFilter.tell(this.#filtersBridge ? others : { ...others, instances: new Map() })
    this.#peerWatch?.tellGateways(others.gateways)
    await this.#hostFilter.forwardMesh()
  }

  /** Lets other machines call this host's agent. Called once it answers at `hostAddress`. */
  async admitCallers(port: number): Promise<void> {
    await this.#hostFilter.admitCallers(port)
  }

  /** The user whose packets come from this address. The filter lets no other VM use the address. */
  ownerOf(ip: string): string | undefined {
    const found = this.#attached.get(ip)
    return found?.complete === true && this.#filtersBridge ? found.nic.userUuid : undefined
  }

  async attach(nic: NicSpec): Promise<Attachment> {
    const attach = async () => {
      const attached = await this.#ensure(nic)
      if (attached.standing) await this.#peerWatch?.leave(attached.vm.tap)
      attached.standing = false
      return this.#attachment(nic)
    }
    return await this.#inTurn(nic.ip, async () => await span(nic.instanceUuid, 'host: network', attach))
  }

  async detach(nic: NicSpec): Promise<void> {
    if (hostPart(this.#plan, nic.ip) === 0) return
    await this.#inTurn(nic.ip, async () => {
      const found = this.#attached.get(nic.ip)
      // By now the address belongs to another instance, so nothing is removed.
      if (found !== undefined && found.nic.instanceUuid !== nic.instanceUuid) return
      await this.#remove(nic, found)
    })
  }

  async standBy(nic: NicSpec): Promise<void> {
    await this.#inTurn(nic.ip, async () => {
      const attached = await this.#ensure(nic)
      attached.standing = true
      attached.told = false
      await this.#peerWatch?.watch({ ...nic, tap: attached.vm.tap })
    })
  }

  onPeerTraffic(listener: (nic: NicSpec) => void): void {
    this.#peerListeners.push(listener)
  }

  /** See `Network.peerPackets`. The count begins again at 0 with every agent. */
  async peerPackets(nic: NicSpec): Promise<number | undefined> {
    const attached = this.#attached.get(nic.ip)
    if (attached === undefined || !this.#filtersBridge) return undefined
    return (await this.#peerCounters.get()).get(attached.vm.tap)
  }

  async counters(nic: NicSpec): Promise<NicCounters | undefined> {
    const found = (await this.#interfaces()).get(tapName(this.#plan, nic.ip))
    if (found === undefined) return undefined
    // What the host transmits on the TAP is what the VM receives.
    return {
      rxBytes: found.txBytes,
      rxPackets: found.txPackets,
      txBytes: found.rxBytes,
      txPackets: found.rxPackets,
    }
  }

  async load(): Promise<NetworkLoad | undefined> {
    return await this.#hostFilter.load()
  }

  async reach(nic: NicSpec, port: number): Promise<{ readonly host: string; readonly port: number }> {
    return await Promise.resolve({ host: nic.ip, port })
  }

  async close(): Promise<void> {
    await this.#peerWatch?.stop()
    for (const { nic } of this.#attached.values()) this.#users.release(nic.userUuid)
    this.#attached.clear()
    this.#meshFilter.clear()
    const { bridge, tapPrefix } = this.#plan
    const names = [...(await this.#interfaces()).keys()]
    const ours = names.filter((name) => name === bridge || name.startsWith(tapPrefix))
    if (ours.length > 0) await this.#ip(ours.map((name) => `link del ${name}`))
    await this.#nft(noFilters(this.#plan))
  }

  /** Returns the attachment of exactly this instance. Makes the parts of it that are missing. */
  async #ensure(nic: NicSpec): Promise<Attached> {
    let found = this.#attached.get(nic.ip)
    if (found !== undefined && !isSame(found.nic, nic)) {
      await this.#remove(found.nic, found)
      found = undefined
    }
    const tap = tapName(this.#plan, nic.ip)
    const there = (await this.#interfaces()).has(tap)
    if (found?.complete === true && there) return found
    const attached = found ?? this.#record(nic, tap)
    const uid = ownerUid(this.#plan, nic.ip)
    const { bridge } = this.#plan
    await Promise.all([
      this.#ip([
        ...(there ? [] : [`tuntap add ${tap} mode tap user ${String(uid)}`]),
        `link set ${tap} addrgenmode none master ${bridge} up`,
        `link set ${tap} type bridge_slave isolated ${this.#filtersBridge ? 'off' : 'on'}`,
        `neigh replace ${nic.ip} lladdr ${nic.mac} dev ${bridge} nud permanent`,
      ]),
      this.#filtersBridge ? this.#nft(this.#bound(attached.vm)) : undefined,
    ])
    attached.complete = true
    return attached
  }

  /**
   * Puts the attachment into the map before it is made. It stays there if the making fails, because the
   * filter may know it already.
   */
  #record(nic: NicSpec, tap: string): Attached {
    const vm = { tap, mac: nic.mac, ip: nic.ip, user: this.#users.hold(nic.userUuid) }
    const attached = { nic, vm, complete: false, standing: false, told: false }
    this.#attached.set(nic.ip, attached)
    return attached
  }

  async #remove(nic: NicSpec, found: Attached | undefined): Promise<void> {
    const tap = tapName(this.#plan, nic.ip)
    if (found !== undefined) {
      found.complete = false
      if (found.standing) await this.#peerWatch?.leave(tap)
    }
    const there = (await this.#interfaces()).has(tap)
    const { bridge } = this.#plan
    // Each delete comes right after a replace or an add, so it always finds what it deletes, and a repeated
    // removal is no error.
    await Promise.all([
      this.#ip([
        `neigh replace ${nic.ip} lladdr ${nic.mac} dev ${bridge} nud permanent`,
        `neigh del ${nic.ip} dev ${bridge}`,
        ...(there ? [`link del ${tap}`] : []),
      ]),
      // An address that an earlier agent attached is not in this agent's filter, so there is nothing to take
      // out of the filter.
      found !== undefined && this.#filtersBridge
        ? this.#nft(this.#bound(found.vm) + unbind(this.#plan, found.vm) + this.#meshFilter.unbind(found.vm))
        : undefined,
    ])
    if (found === undefined) return
    this.#attached.delete(nic.ip)
    this.#users.release(found.nic.userUuid)
  }

  /** The rules of both filters that let the VM use its address. */
  #bound(vm: BoundVm): string {
    return bind(this.#plan, vm) + this.#meshFilter.bind(vm)
  }

  #attachment(nic: NicSpec): Attachment {
    return {
      kind: 'tap',
      interfaceName: tapName(this.#plan, nic.ip),
      ownerUid: ownerUid(this.#plan, nic.ip),
      ip: nic.ip,
      prefixLength: this.#plan.prefixLength,
      gateway: this.#plan.hostAddress,
      nameserver: this.#plan.hostAddress,
      mac: nic.mac,
    }
  }

  #makePeerWatch(path: string | undefined): PeerWatch | undefined {
    if (path === undefined) return undefined
    const plan = this.#plan
    return new PeerWatch({
      commands: this.#commands,
      command: [path, bridgeMac(plan), plan.hostAddress, hostsNetwork, String(agentUid(plan))],
      onPacket: (tap) => this.#hearPeer(tap),
      warn: this.#options.warn,
    })
  }

  #hearPeer(tap: string): void {
    for (const attached of this.#attached.values()) {
      if (attached.vm.tap !== tap || !attached.standing || attached.told) continue
      attached.told = true
      for (const listener of this.#peerListeners) listener(attached.nic)
    }
  }

  async #readPeerCounters(): Promise<ReadonlyMap<string, number>> {
    const { table } = this.#plan
    return parsePeerCounters(
      await this.#commands.run(['nft', '-j', 'list', 'set', 'bridge', table, receivedSet]),
    )
  }

  async #inTurn<T>(ip: string, task: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(ip) ?? Promise.resolve()).then(task)
    const turn = mine.catch(() => undefined)
    this.#turns.set(ip, turn)
    try {
      return await mine
    } finally {
      if (this.#turns.get(ip) === turn) this.#turns.delete(ip)
    }
  }

  async #openBridgeFilter(): Promise<void> {
    try {
      const vms = [...this.#attached.values()].map(({ vm }) => vm)
      await this.#nft(bridgeFilter(this.#plan, { vms, bandwidthMbit: this.#options.bandwidthMbit }))
      this.#filtersBridge = true
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.#filtersBridge = false
      this.#options.warn(
        'this kernel does not filter on bridges, so instances are held to no address and no bandwidth, and have no private network and ' +
          `no names: ${error.message}`,
      )
    }
  }

  async #interfaces(): Promise<ReadonlyMap<string, InterfaceCounters>> {
    return parseNetDev(await readFile(this.#netDevPath, 'utf8'))
  }

  async #ip(lines: readonly string[]): Promise<void> {
    await this.#commands.run(['ip', '-batch', '-'], `${lines.join('\n')}\n`)
  }

  async #nft(rules: string): Promise<void> {
    await this.#commands.run(['nft', '-f', '-'], rules)
  }
}

function isSame(one: NicSpec, other: NicSpec): boolean {
  return one.instanceUuid === other.instanceUuid && one.userUuid === other.userUuid && one.mac === other.mac
}
