import type { HostConnection } from '../../src/domain/standby/gateway-lease-state.ts'
import {
  HostSilence,
  heardNow,
  missed,
  nextTrouble,
  reached,
  refused,
  silenceOf,
} from '../../src/domain/host/silence.ts'
import type { HostSigns } from '../../src/domain/host/silence.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import type { RouteService } from '../../src/domain/service/route-feed.ts'
import { beatIntervalMs, gatewaysToldMs, leaseKeptMs } from '../../src/domain/standby/lease-protocol.ts'
import type { GatewayMessage, HostMessage } from '../../src/domain/standby/lease-protocol.ts'
import { defaultBalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import { LeasedInstance } from '../../src/gateway/balance/leased-instance.ts'
import { ServiceVersions } from '../../src/gateway/balance/service-versions.ts'
import type { Admission, Refusal } from '../../src/gateway/traffic.ts'
import type { SimHost } from './host.ts'
import { SimLine } from './line.ts'
import type { LineEnd, LineEvents } from './line.ts'
import type { World } from './world.ts'

const port = 80
const delaysMs = [50, 100, 200, 500] as const
const longestDelayMs = 1_000
const candidateStates: readonly InstanceState[] = [
  InstanceState.Running,
  InstanceState.Starting,
  InstanceState.Standby,
]

/** How the world's faults affect the lines of all gateways. */
export interface LineTemper {
  /** The probability that a line is cut together with the message that gives a lease back. */
  lastWordLost: number
}

export interface GatewayOptions {
  readonly world: World
  readonly host: SimHost
  readonly name: string
  readonly instanceUuid: string
  readonly softLimit: number
  readonly hardLimit: number
  readonly temper: LineTemper
  /** The state of the instance as the route feed says at present. */
  readonly state: InstanceState | undefined
}

/**
 * One run of one gateway, until it dies. Its lease and its balance of one instance are the real ones; its
 * connection to the host is simulated.
 */
export class SimGateway {
  readonly id: string
  readonly hardLimit: number
  alive = true
  line: SimLine<GatewayMessage, HostMessage> | undefined
  readonly #options: GatewayOptions
  readonly #leased: LeasedInstance
  readonly #balance: ServiceVersions
  readonly #service: RouteService
  #end: LineEnd<GatewayMessage> | undefined
  #welcomed = false
  #silence: HostSilence = HostSilence.None
  #signs: HostSigns
  #failures = 0
  readonly #startedMs: number
  /** The start of the agent that was met last. */
  #metAgentOfMs: number
  #metLate = false
  /** The last time at which the gateway was not in good contact with its host. */
  troubledMs = -Infinity

  constructor(options: GatewayOptions) {
    this.#options = options
    const { world, instanceUuid, name } = options
    this.id = name
    this.hardLimit = options.hardLimit
    this.#startedMs = world.nowMs
    this.#metAgentOfMs = options.host.startedAtMs
    this.#signs = heardNow(world.nowMs)
    this.#service = {
      uuid: 'service',
      name: 'sim',
      domains: [],
      ports: [{ port: 443, destinationPort: port, handlers: [] }],
      softLimit: options.softLimit,
      hardLimit: options.hardLimit,
    }
    const nowMs = (): number => world.nowMs
    this.#leased = new LeasedInstance({
      uuid: instanceUuid,
      nodeId: 'node',
      link: 'lost' satisfies HostConnection,
      epoch: Math.floor(world.nowMs),
      owner: {
        nowMs,
        freshMs: defaultBalanceLimits.freshMs,
        maxWaitMs: defaultBalanceLimits.maxWaitMs,
        ports: () => [port],
        hardLimit: () => options.hardLimit,
        send: (message) => {
          if (!this.alive) return
          this.#end?.send(message)
          if (message.kind === 'idle' && world.dice.chance(options.temper.lastWordLost)) this.line?.cut()
        },
        moved: (change) => {
          if (this.alive) this.#balance.pump(change)
        },
        forget: () => undefined,
        woken: () => undefined,
      },
    })
    const quiet = (): void => undefined
    const owner = { nowMs, limits: defaultBalanceLimits, queue: () => true, unqueue: quiet }
    this.#balance = new ServiceVersions(owner, this.#service)
    this.#hearFeed(options.state)
    world.note(`${name} starts`)
    this.#connect()
    world.after(beatIntervalMs, () => {
      this.#tick()
    })
  }

  get inGoodContact(): boolean {
    return this.#welcomed && this.#silence === HostSilence.None
  }

  /**
   * Whether some agent did not hear in time what this gateway has of the hard limit: `gatewaysToldMs` after
   * its start the agent may have given it to others.
   */
  get metLate(): boolean {
    return this.#metLate || (this.#isUnmet && !this.isExpected)
  }

  /** Whether the agent, which is new, still has to give this gateway time to connect again. */
  get isExpected(): boolean {
    const { world, host } = this.#options
    return this.#isUnmet && world.nowMs <= host.startedAtMs + gatewaysToldMs
  }

  /** Whether this gateway is older than the agent, and not connected to it yet. */
  get #isUnmet(): boolean {
    const { startedAtMs } = this.#options.host
    return this.#startedMs <= startedAtMs && this.#metAgentOfMs !== startedAtMs
  }

  /** An agent that dies may have given away what it never heard of. The next agent does not change that. */
  agentDies(): void {
    this.#metLate = this.metLate
  }

  get phase(): string {
    return this.#leased.phase
  }

  /** The boot of which the gateway holds a lease. */
  get heldBoot(): number | undefined {
    return this.#leased.held()?.boot
  }

  feed(state: InstanceState | undefined): void {
    if (!this.alive) return
    this.#leased.tell({ kind: 'news' })
    this.#hearFeed(state)
  }

  admit(
    kind: 'request' | 'connection',
    signal: AbortSignal,
  ): Admission | Refusal | Promise<Admission | Refusal> {
    return this.#balance.admit({ service: this.#service, port, kind, signal })
  }

  /** Ends the gateway. What only the gateway knew is lost. */
  die(): void {
    this.#options.world.note(`${this.id} dies`)
    this.alive = false
    this.line?.gatewayDied()
    this.#leased.close()
  }

  #hearFeed(state: InstanceState | undefined): void {
    const isCandidate = state !== undefined && candidateStates.includes(state)
    const running = state === InstanceState.Running ? 1 : 0
    const members = isCandidate ? [this.#leased] : []
    this.#balance.update(this.#service, { members, running }, { members: [], running: 0 })
  }

  #connect(): void {
    const { world, host, instanceUuid } = this.#options
    if (!this.alive) return
    world.after(world.dice.stretched(0.2, 20), () => {
      if (!this.alive) return
      const found: { end: LineEnd<GatewayMessage> | undefined } = { end: undefined }
      const events: LineEvents<HostMessage> = {
        hear: (message) => {
          if (this.alive) this.#hear(message)
        },
        closed: () => {
          if (this.alive && found.end === this.#end) this.#lost()
        },
      }
      const accepted = host.accept((lower) => {
        const line = new SimLine<GatewayMessage, HostMessage>(world, { gateway: events, host: lower })
        this.line = line
        found.end = line.gatewayEnd
        return line.hostEnd
      })
      if (!accepted) {
        this.#signs = host.isOff ? missed(this.#signs) : refused(this.#signs, world.nowMs)
        this.#again()
        return
      }
      this.#signs = reached(this.#signs, world.nowMs)
      this.#end = found.end
      const held = this.#leased.held()
      const share = this.#leased.share.held
      this.#end?.send({
        kind: 'hello',
        gatewayId: this.id,
        held: held === undefined ? [] : [held],
        shares: share === undefined ? [] : [{ instance: instanceUuid, ...share }],
      })
    })
  }

  #lost(): void {
    this.#end = undefined
    if (this.#welcomed) {
      this.#welcomed = false
      this.#options.world.note(`${this.id} lost its host`)
      this.#leased.tell({ kind: 'link-lost' })
    }
    this.#again()
  }

  #again(): void {
    const delayMs = delaysMs[this.#failures] ?? longestDelayMs
    this.#failures += 1
    this.#options.world.after(delayMs, () => {
      this.#connect()
    })
  }

  #hear(message: HostMessage): void {
    this.#signs = heardNow(this.#options.world.nowMs)
    if (message.kind === 'welcome') {
      this.#welcomed = true
      this.#metLate = this.metLate
      this.#metAgentOfMs = this.#options.host.startedAtMs
      this.#silence = HostSilence.None
      this.#failures = 0
      this.#leased.tell({ kind: 'link-back' })
      return
    }
    if (this.#silence !== HostSilence.None && this.#welcomed) {
      this.#silence = HostSilence.None
      this.#leased.tell({ kind: 'link-back' })
    }
    if (message.kind !== 'beat' && message.kind !== 'report') this.#leased.hear(message)
  }

  #tick(): void {
    const { world } = this.#options
    if (!this.alive) return
    this.#end?.send({ kind: 'beat' })
    const step = nextTrouble(this.#silence, silenceOf(this.#signs, world.nowMs))
    if (step !== undefined) {
      this.#silence = step
      world.note(`${this.id} finds its host ${step}`)
      this.#leased.tell({ kind: `link-${step}` })
    }
    if (world.nowMs - this.#signs.heardMs >= leaseKeptMs) this.#end?.close()
    if (!this.inGoodContact) this.troubledMs = world.nowMs
    world.after(beatIntervalMs, () => {
      this.#tick()
    })
  }
}
