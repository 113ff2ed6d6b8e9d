import type {
  Attachment,
  Network,
  NetworkBound,
  NetworkLoad,
  NicCounters,
  NicSpec,
} from '../network/network.ts'

export interface FakeNetworkFaults {
  /** The nth `attach` (from 1) fails. */
  readonly failAttach?: number
  /** Every `guard` fails while this is set. */
  failGuard?: boolean
}

/**
 * A network in memory. Like a host's own network it outlives the agents of a test, if the test hands the
 * same object to the next agent. Each reading of the counters finds a little more traffic, so that a test
 * sees whether traffic is accumulated.
 */
export class FakeNetwork implements Network {
  readonly attached = new Map<string, { nic: NicSpec; readings: number }>()
  /** Addresses that can not be attached from now on. */
  readonly broken = new Set<string>()
  /** Addresses of instances in standby whose first packet is still to come. */
  readonly resting = new Set<string>()
  /** The dropped packets that `load` returns. */
  readonly dropped: Record<NetworkBound, number> = { flows: 0, 'new-flows': 0, bandwidth: 0 }
  /** What `guard` was called with. */
  readonly guards: (number | undefined)[] = []
  /** What `openTo` was called with last, by the port. */
  readonly openedTo = new Map<number, readonly string[]>()
  readonly #peerPackets = new Map<string, number>()
  readonly #peerListeners = new Set<(nic: NicSpec) => void>()
  readonly #faults: FakeNetworkFaults
  #attaches = 0

  constructor(faults: FakeNetworkFaults = {}) {
    this.#faults = faults
  }

  async open(): Promise<void> {
    await Promise.resolve()
  }

  async attach(nic: NicSpec): Promise<Attachment> {
    this.#attaches += 1
    if (this.#attaches === this.#faults.failAttach)
      throw new Error(`attach ${String(this.#attaches)} fails as asked`)
    if (this.broken.has(nic.ip)) throw new Error(`${nic.ip} can not be attached, as asked`)
    this.resting.delete(nic.ip)
    if (!this.attached.has(nic.ip)) this.attached.set(nic.ip, { nic, readings: 0 })
    return await Promise.resolve({
      kind: 'user',
      ip: nic.ip,
      prefixLength: 16,
      gateway: '10.64.0.1',
      nameserver: '10.64.0.1',
      mac: nic.mac,
      forwards: [],
    })
  }

  async detach(nic: NicSpec): Promise<void> {
    this.attached.delete(nic.ip)
    this.resting.delete(nic.ip)
    this.#peerPackets.delete(nic.ip)
    await Promise.resolve()
  }

  async counters(nic: NicSpec): Promise<NicCounters | undefined> {
    const found = this.attached.get(nic.ip)
    if (found === undefined) return undefined
    const { readings } = found
    found.readings += 1
    return await Promise.resolve({
      rxBytes: readings * 100,
      rxPackets: readings,
      txBytes: readings * 200,
      txPackets: readings * 2,
    })
  }

  async standBy(nic: NicSpec): Promise<void> {
    if (!this.attached.has(nic.ip)) this.attached.set(nic.ip, { nic, readings: 0 })
    this.resting.add(nic.ip)
    await Promise.resolve()
  }

  onPeerTraffic(listener: (nic: NicSpec) => void): void {
    this.#peerListeners.add(listener)
  }

  async peerPackets(nic: NicSpec): Promise<number | undefined> {
    if (!this.attached.has(nic.ip)) return undefined
    return await Promise.resolve(this.#peerPackets.get(nic.ip) ?? 0)
  }

  async load(): Promise<NetworkLoad> {
    return await Promise.resolve({ flows: 0, maxFlows: 262_144, dropped: { ...this.dropped } })
  }

  /** Another instance of the same user sends a packet to this address. */
  sendFromPeer(ip: string): void {
    const found = this.attached.get(ip)
    if (found === undefined) return
    this.#peerPackets.set(ip, (this.#peerPackets.get(ip) ?? 0) + 1)
    if (!this.resting.delete(ip)) return
    for (const listener of this.#peerListeners) listener(found.nic)
  }

  async reach(
    nic: NicSpec,
    port: number,
  ): Promise<{ readonly host: string; readonly port: number } | undefined> {
    return await Promise.resolve(this.attached.has(nic.ip) ? { host: nic.ip, port } : undefined)
  }

  async guard(leftMs: number | undefined): Promise<void> {
    if (this.#faults.failGuard === true) throw new Error('the guard can not be set, as asked')
    this.guards.push(leftMs)
    await Promise.resolve()
  }

  async openTo(port: number, addresses: readonly string[]): Promise<void> {
    this.openedTo.set(port, addresses)
    await Promise.resolve()
  }

  async close(): Promise<void> {
    this.attached.clear()
    this.resting.clear()
    await Promise.resolve()
  }
}
