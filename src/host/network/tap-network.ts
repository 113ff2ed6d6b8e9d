import { chmod, readFile, stat } from 'node:fs/promises'
import { hostPart, ownerUid, planAddresses, subnetPrefixLength, tapName } from './address-plan.ts'
import type { AddressPlan } from './address-plan.ts'
import { CommandError, Commands } from './commands.ts'
import { bind, bridgeFilter, hostFilter, noFilters, unbind } from './filter-rules.ts'
import type { Outbound } from './filter-rules.ts'
import { parseNetDev } from './net-dev.ts'
import type { InterfaceCounters } from './net-dev.ts'
import type { Attachment, Network, NicCounters, NicSpec } from './network.ts'

const tunDevice = '/dev/net/tun'
const everyoneMode = 0o666

export interface TapNetworkOptions {
  /** The agent's directory: names everything on the host, so two agents do not meet. */
  readonly directory: string
  /** The /16 of this host's instances. */
  readonly subnet: string
  /** Outbound access with this nameserver, where the host has a default route; absent: instances reach nothing outside. */
  readonly outbound?: { readonly nameserver: string }
  readonly warn: (message: string) => void
  /** Where the tools run and where the counters are read: the host's own network, or a namespace of a test. */
  readonly commands?: Commands
  readonly netDevPath?: string
}

/**
 * One bridge per agent and one TAP device per running VM (the kernel allows 1023 on a bridge), needs root.
 *
 * `attach` is two processes side by side, `ip -batch` and `nft`, together about 5 ms. The neighbour entry is permanent because a
 * VM's first answer to ARP comes a second late otherwise; the bridge's own MAC is fixed because the kernel forgets
 * even permanent entries when a bridge takes another MAC with its first port.
 */
export class TapNetwork implements Network {
  readonly #plan: AddressPlan
  readonly #options: TapNetworkOptions
  readonly #commands: Commands
  readonly #netDevPath: string
  /** False where the kernel has no packet filter for bridges: then a VM could take another's address. */
  #bindsAddresses = false
  #outbound: Outbound | undefined

  constructor(options: TapNetworkOptions) {
    this.#options = options
    this.#plan = planAddresses(options)
    this.#commands = options.commands ?? new Commands()
    this.#netDevPath = options.netDevPath ?? '/proc/self/net/dev'
  }

  async open(): Promise<void> {
    await this.#openDevice()
    const { bridge, hostAddress } = this.#plan
    if (!(await this.#interfaces()).has(bridge)) await this.#ip([`link add ${bridge} type bridge`])
    const wanted = `${hostAddress}/${String(subnetPrefixLength)}`
    const addresses = await this.#commands.run(['ip', '-o', '-4', 'addr', 'show', 'dev', bridge])
    await this.#ip([
      `link set ${bridge} addrgenmode none address ${bridgeMac(this.#plan)}`,
      ...(addresses.includes(` ${wanted} `)
        ? []
        : [`addr flush dev ${bridge}`, `addr add ${wanted} dev ${bridge}`]),
      `link set ${bridge} up`,
    ])
    this.#outbound = await this.#findOutbound()
    await this.#nft(hostFilter(this.#plan, this.#outbound))
    await this.#openBridgeFilter()
    if (this.#outbound !== undefined) await this.#forward(this.#outbound.uplink)
  }

  async attach(nic: NicSpec): Promise<Attachment> {
    const tap = tapName(this.#plan, nic.ip)
    const uid = ownerUid(this.#plan, nic.ip)
    const { bridge } = this.#plan
    const there = (await this.#interfaces()).has(tap)
    await Promise.all([
      this.#ip([
        ...(there ? [] : [`tuntap add ${tap} mode tap user ${String(uid)}`]),
        `link set ${tap} addrgenmode none master ${bridge} up`,
        `link set ${tap} type bridge_slave isolated on`,
        `neigh replace ${nic.ip} lladdr ${nic.mac} dev ${bridge} nud permanent`,
      ]),
      this.#bindsAddresses ? this.#nft(bind(this.#plan, { ...nic, tap })) : undefined,
    ])
    return {
      kind: 'tap',
      interfaceName: tap,
      ownerUid: uid,
      ip: nic.ip,
      prefixLength: subnetPrefixLength,
      gateway: this.#plan.hostAddress,
      nameserver: this.#outbound?.nameserver ?? this.#plan.hostAddress,
      mac: nic.mac,
    }
  }

  async detach(nic: NicSpec): Promise<void> {
    if (hostPart(this.#plan, nic.ip) === 0) return
    const tap = tapName(this.#plan, nic.ip)
    const there = (await this.#interfaces()).has(tap)
    const { bridge } = this.#plan
    await Promise.all([
      // A delete right after a replace finds what it deletes, so a repeat is no error.
      this.#ip([
        `neigh replace ${nic.ip} lladdr ${nic.mac} dev ${bridge} nud permanent`,
        `neigh del ${nic.ip} dev ${bridge}`,
        ...(there ? [`link del ${tap}`] : []),
      ]),
      this.#bindsAddresses
        ? this.#nft(bind(this.#plan, { ...nic, tap }) + unbind(this.#plan, { ...nic, tap }))
        : undefined,
    ])
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

  async reach(nic: NicSpec, port: number): Promise<{ readonly host: string; readonly port: number }> {
    return await Promise.resolve({ host: nic.ip, port })
  }

  async close(): Promise<void> {
    const { bridge, tapPrefix } = this.#plan
    const names = [...(await this.#interfaces()).keys()]
    const ours = names.filter((name) => name === bridge || name.startsWith(tapPrefix))
    if (ours.length > 0) await this.#ip(ours.map((name) => `link del ${name}`))
    await this.#nft(noFilters(this.#plan))
  }

  /**
   * VM processes are not root, and open the device themselves. Where there is no udev its mode may lack what udev's own
   * rules give it, 0666; the kernel lets a user have only the TAPs that are its own.
   */
  async #openDevice(): Promise<void> {
    const { mode } = await stat(tunDevice)
    if ((mode & everyoneMode) === everyoneMode) return
    await chmod(tunDevice, everyoneMode)
    this.#options.warn(`${tunDevice} was closed to VM processes; it has udev's usual mode 0666 now`)
  }

  async #openBridgeFilter(): Promise<void> {
    try {
      await this.#nft(bridgeFilter(this.#plan))
      this.#bindsAddresses = true
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.#bindsAddresses = false
      this.#options.warn(
        `this kernel does not filter on bridges, so instances are not held to their addresses: ${error.message}`,
      )
    }
  }

  async #findOutbound(): Promise<Outbound | undefined> {
    if (this.#options.outbound === undefined) return undefined
    const routes = await this.#commands.run(['ip', '-o', '-4', 'route', 'show', 'default'])
    const uplink = / dev (\S+)/.exec(routes)?.[1]
    if (uplink === undefined) {
      this.#options.warn(
        'outbound access is on but this host has no default route; instances reach nothing outside',
      )
      return undefined
    }
    return { uplink, nameserver: this.#options.outbound.nameserver }
  }

  /** Of the two interfaces only, not of the whole host: it must not become a router for its other networks. */
  async #forward(uplink: string): Promise<void> {
    const files = [this.#plan.bridge, uplink].map((name) => `/proc/sys/net/ipv4/conf/${name}/forwarding`)
    await this.#commands.run(['tee', ...files], '1\n')
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

/** Locally administered, and the same at every start. */
function bridgeMac(plan: AddressPlan): string {
  return `02:52:4f:${plan.hash.slice(0, 2)}:${plan.hash.slice(2, 4)}:${plan.hash.slice(4, 6)}`
}
