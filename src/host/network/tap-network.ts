import { readFile } from 'node:fs/promises'
import { hostsNetwork, hostsPrefixLength } from '../../domain/host/private-address.ts'
import { agentUid, bridgeMac, ownerUid, placeOf, planAddresses, tapName } from './address-plan.ts'
import type { AddressPlan } from './address-plan.ts'
import { AddressTurns } from './address-turns.ts'
import { AttachedNics } from './attached-nics.ts'
import type { AttachedNic } from './attached-nics.ts'
import { CommandError, Commands } from './commands.ts'
import type { ConnectionTable } from './connection-table.ts'
import { bind, bridgeFilter, noFilters, receivedSet, unbind } from './filter-rules.ts'
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
import { noGuard, TermGuard } from './term-guard.ts'
import { openTunDevice } from './tun-device.ts'
import { changeSeat, seatRoute, seatRouteEnd } from './seat-rules.ts'
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
  readonly #termGuard: TermGuard
  readonly #attached: AttachedNics
  readonly #users = new UserNumbers()
  readonly #turns = new AddressTurns()
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
    this.#attached = new AttachedNics(this.#plan)
    this.#hostFilter = new HostFilter({
      ...options,
      plan: this.#plan,
      commands: this.#commands,
      seated: () => this.#attached.all().flatMap(({ nic }) => (nic.seat === undefined ? [] : [nic.ip])),
    })
    this.#termGuard = new TermGuard({ plan: this.#plan, commands: this.#commands })
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
    await this.#hostFilter.answerArp(this.#filtersBridge)
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

  /** See `Network.openTo`. */
  async openTo(port: number, addresses: readonly string[]): Promise<void> {
    await this.#hostFilter.openTo(port, addresses)
  }

  /** The user whose packets come from this address. The filter lets no other VM use the address. */
  ownerOf(ip: string): string | undefined {
    const found = this.#attached.withAddress(ip)
    return found?.complete === true && this.#filtersBridge ? found.nic.userUuid : undefined
  }

  async attach(nic: NicSpec): Promise<Attachment> {
    const attach = async () => {
      const attached = await this.#ensure(nic)
      if (attached.standing) await this.#peerWatch?.leave(attached.vm.tap)
      attached.standing = false
      return this.#attachment(nic)
    }
    return await this.#inTurn(nic, async () => await span(nic.instanceUuid, 'host: network', attach))
  }

  async detach(nic: NicSpec): Promise<void> {
    await this.#inTurn(nic, async () => await this.#remove(nic, this.#attached.of(nic)))
  }

  async standBy(nic: NicSpec): Promise<void> {
    await this.#inTurn(nic, async () => {
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
    const attached = this.#attached.withAddress(nic.ip)
    if (attached === undefined || !this.#filtersBridge) return undefined
    return (await this.#peerCounters.get()).get(attached.vm.tap)
  }

  async counters(nic: NicSpec): Promise<NicCounters | undefined> {
    const found = (await this.#interfaces()).get(tapName(this.#plan, nic))
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

  async guard(leftMs: number | undefined): Promise<void> {
    await this.#termGuard.set(leftMs)
  }

  async close(): Promise<void> {
    await this.#peerWatch?.stop()
    for (const { nic } of this.#attached.all()) this.#users.release(nic.userUuid)
    this.#attached.clear()
    this.#meshFilter.clear()
    const { bridge, tapPrefix } = this.#plan
    const names = [...(await this.#interfaces()).keys()]
    const ours = names.filter((name) => name === bridge || name.startsWith(tapPrefix))
    if (ours.length > 0) await this.#ip(ours.map((name) => `link del ${name}`))
    await this.#nft(noFilters(this.#plan) + noGuard(this.#plan))
  }

  /** Returns the attachment of exactly this instance. Makes the parts of it that are missing. */
  async #ensure(nic: NicSpec): Promise<AttachedNic> {
    for (const other of this.#attached.inTheWayOf(nic)) await this.#remove(other.nic, other)
    const found = this.#attached.of(nic)
    const tap = tapName(this.#plan, nic)
    const there = (await this.#interfaces()).has(tap)
    if (found?.complete === true && there) return found
    const attached = found ?? this.#record(nic, tap)
    const uid = ownerUid(this.#plan, nic)
    const { bridge } = this.#plan
    await Promise.all([
      this.#ip([
        ...(there ? [] : [`tuntap add ${tap} mode tap user ${String(uid)}`]),
        `link set ${tap} addrgenmode none master ${bridge} up`,
        `link set ${tap} type bridge_slave isolated ${this.#filtersBridge ? 'off' : 'on'}`,
        `neigh replace ${nic.ip} lladdr ${nic.mac} dev ${bridge} nud permanent`,
        ...(nic.seat === undefined ? [] : [seatRoute(this.#plan, nic.ip)]),
      ]),
      this.#nft(this.#bound(attached)),
    ])
    attached.complete = true
    return attached
  }

  /**
   * Notes the attachment before it is made. The note stays if the making fails, because the filter may know
   * the attachment already.
   */
  #record(nic: NicSpec, tap: string): AttachedNic {
    const vm = { tap, mac: nic.mac, ip: nic.ip, user: this.#users.hold(nic.userUuid) }
    const attached = { nic, vm, complete: false, standing: false, told: false }
    this.#attached.add(attached)
    return attached
  }

  /** Leaves alone what has the address or the TAP by now. */
  async #remove(nic: NicSpec, found: AttachedNic | undefined): Promise<void> {
    const tap = tapName(this.#plan, nic)
    const others = this.#attached.inTheWayOf(nic)
    const [isAddressTaken, isTapTaken] = [
      others.some((other) => other.nic.ip === nic.ip),
      others.some(({ vm }) => vm.tap === tap),
    ]
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
        ...(isAddressTaken
          ? []
          : [
              `neigh replace ${nic.ip} lladdr ${nic.mac} dev ${bridge} nud permanent`,
              `neigh del ${nic.ip} dev ${bridge}`,
              ...(nic.seat === undefined ? [] : seatRouteEnd(this.#plan, nic.ip)),
            ]),
        ...(there && !isTapTaken ? [`link del ${tap}`] : []),
      ]),
      // An address that an earlier agent attached is not in this agent's filter, so there is nothing to take
      // out of the filter.
      found === undefined ? undefined : this.#nft(this.#bound(found) + this.#unbound(found)),
    ])
    if (found === undefined) return
    this.#attached.delete(found)
    this.#users.release(found.nic.userUuid)
  }

  /** The rules of the filters that let the VM use its address. */
  #bound({ nic, vm }: AttachedNic): string {
    const seat = nic.seat === undefined ? '' : changeSeat('add', this.#plan, nic.ip)
    return seat + (this.#filtersBridge ? bind(this.#plan, vm) + this.#meshFilter.bind(vm) : '')
  }

  /** The rules that end what `#bound` let the VM do, right after it. */
  #unbound({ nic, vm }: AttachedNic): string {
    const seat = nic.seat === undefined ? '' : changeSeat('delete', this.#plan, nic.ip)
    return seat + (this.#filtersBridge ? unbind(this.#plan, vm) + this.#meshFilter.unbind(vm) : '')
  }

  /**
   * A guest with a seat is not in this host's network. It gets a network in which it and its gateway both
   * are: that of all hosts. The bridge answers its ARP requests for what is elsewhere.
   */
  #attachment(nic: NicSpec): Attachment {
    return {
      kind: 'tap',
      interfaceName: tapName(this.#plan, nic),
      ownerUid: ownerUid(this.#plan, nic),
      ip: nic.ip,
      prefixLength: nic.seat === undefined ? this.#plan.prefixLength : hostsPrefixLength,
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
    for (const attached of this.#attached.all()) {
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

  async #inTurn<T>(nic: NicSpec, task: () => Promise<T>): Promise<T> {
    return await this.#turns.run([...new Set([nic.ip, placeOf(this.#plan, nic)])], task)
  }

  async #openBridgeFilter(): Promise<void> {
    try {
      const vms = this.#attached.all().map(({ vm }) => vm)
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
    if (rules === '') return
    await this.#commands.run(['nft', '-f', '-'], rules)
  }
}
