import { leaseKeptMs } from '../../src/domain/standby/lease-protocol.ts'
import type { GatewayMessage, HostMessage } from '../../src/domain/standby/lease-protocol.ts'
import { FakeNetwork } from '../../src/host/fakes/fake-network.ts'
import { permitOf } from '../../src/host/instance/record.ts'
import type { InstanceRecord } from '../../src/host/instance/record.ts'
import { LiveAgent, privateIp } from './agent.ts'
import type { HostOptions } from './agent.ts'
import type { LineEnd, LineEvents } from './line.ts'

const elsewhere = { nodeId: 'elsewhere', address: '10.64.16.1' }
const releaseAgainMs = 500

/**
 * One machine with an agent that may die. The agent is the real one. Its network, disk, clock and VMs are
 * simulated.
 */
export class SimHost {
  readonly #options: HostOptions
  readonly #network = new FakeNetwork()
  #present: LiveAgent | undefined
  #bootId = 1
  /**
   * True between a reboot and the next start of an agent. Nothing answers then. A machine that is on but has
   * no agent refuses connections.
   */
  isOff = false
  startedAtMs = 0
  /**
   * The last time at which a packet from another instance of the private network (a peer) reached the
   * application.
   */
  lastPeerMs = -Infinity
  /** When the instance was first asked to stand by, for each idle period. */
  readonly #orderedMs = new Map<number, number>()
  /** The last time at which any agent heard each gateway. */
  readonly #lastWords = new Map<string, number>()
  readonly #givenUpMs = new Map<string, number>()

  constructor(options: HostOptions) {
    this.#options = options
  }

  get agent(): LiveAgent | undefined {
    return this.#present?.ready === true ? this.#present : undefined
  }

  get isUp(): boolean {
    return this.agent !== undefined
  }

  /** The record that an agent finds when it starts. */
  get record(): InstanceRecord | undefined {
    return this.#options.disk.record
  }

  start(): void {
    if (this.#present !== undefined) return
    this.isOff = false
    const { world } = this.#options
    world.note('agent starts')
    this.startedAtMs = world.nowMs
    const agent = new LiveAgent(this.#options, this.#network, `machine-boot-${this.#bootId}`)
    this.#present = agent
    void agent.begin()
  }

  /**
   * Ends the agent. The program that watches for peers' packets ends with its agent, so nobody watches until
   * the next agent starts.
   */
  crash({ powerLost = false } = {}): void {
    this.#options.world.note('agent dies')
    this.#options.onDeath()
    this.#network.resting.clear()
    this.#present?.die({ powerLost })
    this.#present = undefined
  }

  /** Reboots the machine. Only the disk survives. */
  reboot(): void {
    this.crash({ powerLost: true })
    this.isOff = true
    this.#bootId += 1
    this.#options.machine.powerOff()
    // A boot may have come up while there was no agent. After the reboot nobody knows that it came up, so it
    // may begin once more.
    const { record } = this
    if (record !== undefined && record.started === undefined) this.#options.machine.cameUp.delete(record.boot)
    this.#options.world.note('the machine reboots')
  }

  /**
   * Sends a packet of a peer. Returns whether the packet got to the application. The packet is noticed by
   * the network even while the agent is still starting and takes no work.
   */
  peerSends(): boolean {
    const { machine, world } = this.#options
    if (this.#network.resting.has(privateIp)) world.note('a packet of a peer is noticed')
    this.#network.sendFromPeer(privateIp)
    if (machine.running?.started === undefined) return false
    this.lastPeerMs = world.nowMs
    return true
  }

  /**
   * Holds a sleeping instance for this time, as for a move that is called off at last. Traffic waits
   * meanwhile.
   */
  holdFor(ms: number): void {
    const { world, instanceUuid } = this.#options
    const { agent, record } = this
    const permit = permitOf(record)
    if (agent === undefined || permit === undefined || record?.standby === undefined) return
    world.note('a move begins')
    const { boot } = record.standby
    agent.core.moves.hold({ instanceUuid, boot, permit, to: elsewhere }).catch(() => undefined)
    world.after(ms, () => this.#release())
  }

  /** Repeated until it is done, as a workflow does. */
  #release(): void {
    const { world, instanceUuid } = this.#options
    if (this.record?.move === undefined) return
    if (this.agent !== undefined) void this.agent.core.moves.release({ instanceUuid })
    world.after(releaseAgainMs, () => this.#release())
  }

  noteOrder({ epoch }: { readonly epoch: number }): void {
    if (!this.#orderedMs.has(epoch)) this.#orderedMs.set(epoch, this.#options.world.nowMs)
  }

  orderedMs(epoch: number): number {
    return this.#orderedMs.get(epoch) ?? -Infinity
  }

  /** Accepts a gateway's connection, as the lease server does. Returns false if there is no agent. */
  accept(lineOf: (events: LineEvents<GatewayMessage>) => LineEnd<HostMessage>): boolean {
    const agent = this.agent
    if (agent === undefined) return false
    agent.accept(lineOf, (gatewayId) => {
      if (this.#isSilent(gatewayId)) this.#givenUpMs.set(gatewayId, this.#options.world.nowMs)
      this.#lastWords.set(gatewayId, this.#options.world.nowMs)
    })
    return true
  }

  /**
   * Whether the host was permitted to end a lease of that gateway since `sinceMs`, because it had not heard
   * the gateway for `leaseKeptMs`.
   */
  hasGivenUp(gatewayId: string, sinceMs: number): boolean {
    return this.#isSilent(gatewayId) || (this.#givenUpMs.get(gatewayId) ?? -Infinity) >= sinceMs
  }

  #isSilent(gatewayId: string): boolean {
    const lastMs = Math.max(this.#lastWords.get(gatewayId) ?? -Infinity, this.startedAtMs)
    return this.#options.world.nowMs - lastMs >= leaseKeptMs - 1
  }
}
