import {
  closedGatewayLease,
  HostConnection,
  GatewayLeasePhase,
} from '../../src/domain/standby/gateway-lease-state.ts'
import type { GatewayLeaseEvent, GatewayLeaseState } from '../../src/domain/standby/gateway-lease-state.ts'
import { decide, heldLease, isOpen } from '../../src/domain/standby/gateway-lease.ts'
import { leaseValidMs } from '../../src/domain/standby/lease-protocol.ts'
import type { EndReason } from '../../src/gateway/traffic.ts'
import { silentHostAwayMs } from '../../src/domain/host/silence.ts'
import type { Simulation } from './simulation.ts'

export interface Request {
  readonly id: number
  outcome: 'waiting' | 'under way' | 'answered' | 'refused' | 'broken'
  /** The boots that it was sent to. */
  readonly boots: number[]
}

/** What the host's side of a line takes, and what it says. */
export type ToHost =
  | { readonly kind: 'hello'; readonly held: { readonly boot: number; readonly epoch: number } | undefined }
  | { readonly kind: 'open'; readonly epoch: number }
  | { readonly kind: 'withdraw'; readonly epoch: number }
  | { readonly kind: 'idle'; readonly epoch: number; readonly quietMs: number }
  | { readonly kind: 'drained'; readonly boot: number }
export type ToGateway =
  | { readonly kind: 'welcome' }
  | Extract<GatewayLeaseEvent, { kind: 'opened' | 'refused' | 'undrain' | 'gone' }>
  | { readonly kind: 'drain'; readonly boot: number }
  | { readonly kind: 'close'; readonly boot: number }

/**
 * One gateway with one instance behind it: the machine of `gateway-lease.ts`, fed as `LeasedInstance` feeds
 * it.
 */
export class SimulatedGateway {
  readonly name: string
  readonly underWay = new Set<Request>()
  /** Connections carry their number, so that what was under way on a lost one arrives nowhere. */
  connection = 0
  connected = false
  lostAtMs = 0
  #state: GatewayLeaseState
  #waiting: Request[] = []
  #lastMs = 0
  /** Which process this is: callbacks of one that was killed do nothing. */
  #life = 0
  readonly #sim: Simulation

  constructor(sim: Simulation, name: string) {
    this.#sim = sim
    this.name = name
    this.#state = closedGatewayLease(sim.time.nowMs, HostConnection.Lost)
  }

  get state(): GatewayLeaseState {
    return this.#state
  }

  request(request: Request): void {
    this.#waiting.push(request)
    if (isOpen(this.#state)) this.#admit()
    else this.tell({ kind: 'wanted' })
  }

  /** It was killed and started again: its clients' connections break, its counters begin at the time. */
  restart(): void {
    this.#life += 1
    for (const request of [...this.#waiting, ...this.underWay]) request.outcome = 'broken'
    this.#waiting = []
    this.underWay.clear()
    this.breakLine()
    this.#state = closedGatewayLease(this.#sim.time.nowMs, HostConnection.Lost)
    this.connect()
  }

  connect(): void {
    if (this.connected) return
    const connection = (this.connection += 1)
    this.connected = true
    this.#sim.toHost(this, connection, { kind: 'hello', held: heldLease(this.#state) })
  }

  breakLine(): void {
    if (!this.connected) return
    this.connected = false
    this.connection += 1
    this.lostAtMs = this.#sim.time.nowMs
    this.#sim.host.lineBroken(this)
    this.tell({ kind: 'link-lost' })
    const { connection } = this
    const life = this.#life
    const { dice, time } = this.#sim
    const later = (afterMs: number, kind: 'link-down' | 'link-silent' | 'link-away' | 'link-unreachable') =>
      time.after(afterMs, () => {
        if (life === this.#life && connection === this.connection) this.tell({ kind })
      })
    if (dice.happens(0.3)) later(dice.within(0, leaseValidMs), 'link-down')
    later(leaseValidMs, 'link-silent')
    later(silentHostAwayMs, 'link-away')
    if (dice.happens(0.5)) later(dice.within(silentHostAwayMs, 9_000), 'link-unreachable')
  }

  hear(message: ToGateway): void {
    const connected = this.underWay.size > 0
    if (message.kind === 'welcome') this.tell({ kind: 'link-back' })
    else if (message.kind === 'drain') this.tell({ kind: 'drain', boot: message.boot, connected })
    else if (message.kind === 'close') this.tell({ kind: 'close', boot: message.boot, connected })
    else {
      if (message.kind === 'opened' && this.#state.asked && this.#state.epoch === message.epoch)
        this.#lastMs = this.#sim.time.nowMs
      this.tell(message)
    }
  }

  tell(event: GatewayLeaseEvent): void {
    const dueBefore = this.#state.dueAtMs
    const { state, effects } = decide(this.#state, event, this.#sim.time.nowMs)
    this.#state = JSON.parse(JSON.stringify(state)) as GatewayLeaseState
    if (state.dueAtMs !== dueBefore) this.#arm()
    for (const effect of effects) {
      if (effect.kind === 'admit') this.#admit()
      else if (effect.kind === 'fail') this.#refuse(effect.refusal.reason)
      else if (effect.kind === 'end') this.#end(effect.boot, effect.why)
      else if (
        effect.kind === 'open' ||
        effect.kind === 'withdraw' ||
        effect.kind === 'idle' ||
        effect.kind === 'drained'
      ) {
        if (this.connected) this.#sim.toHost(this, this.connection, effect)
      }
    }
  }

  #admit(): void {
    const { lease } = this.#state
    if (!isOpen(this.#state) || lease === undefined) return
    for (const request of this.#waiting.splice(0)) {
      request.outcome = 'under way'
      request.boots.push(lease.boot)
      this.underWay.add(request)
      this.#lastMs = this.#sim.time.nowMs
      this.#sim.arrives(this, request, lease.boot)
    }
  }

  /** The application answered. */
  answered(request: Request): void {
    if (!this.underWay.delete(request)) return
    request.outcome = 'answered'
    this.#release()
  }

  broken(request: Request): void {
    if (!this.underWay.delete(request)) return
    request.outcome = 'broken'
    this.#release()
  }

  #release(): void {
    this.#lastMs = this.#sim.time.nowMs
    const isEmpty = this.underWay.size === 0
    if (this.#state.phase === GatewayLeasePhase.Busy && isEmpty)
      this.tell({ kind: 'calm', lastMs: this.#lastMs })
    if (isEmpty && (this.#state.draining !== 0 || !isOpen(this.#state))) this.tell({ kind: 'empty' })
  }

  #refuse(reason: string): void {
    for (const request of this.#waiting.splice(0)) {
      request.outcome = 'refused'
      this.#sim.refused(this, request, reason)
    }
  }

  /** A close leaves requests that are under way alone. */
  #end(boot: number, why: EndReason): void {
    if (why === 'close') return
    for (const request of this.underWay) {
      if (request.boots.at(-1)! > boot) continue
      if (why === 'lost') this.broken(request)
      else this.#sim.cutOff(this, request)
    }
  }

  #arm(): void {
    const { dueAtMs } = this.#state
    const life = this.#life
    if (dueAtMs === undefined) return
    this.#sim.time.after(dueAtMs - this.#sim.time.nowMs, () => {
      if (life !== this.#life || this.#state.dueAtMs !== dueAtMs) return
      this.tell({ kind: 'due', busy: this.underWay.size > 0, lastMs: this.#lastMs })
      if (this.#state.dueAtMs === dueAtMs) this.#arm()
    })
  }
}
