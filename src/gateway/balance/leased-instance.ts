import { decide, heldLease, isAsking, isOpen, knownRefusal } from '../../domain/standby/gateway-lease.ts'
import {
  GatewayLeasePhase,
  HostConnection,
  closedGatewayLease,
} from '../../domain/standby/gateway-lease-state.ts'
import type {
  GatewayLeaseEffect,
  GatewayLeaseEvent,
  LeaseRefusal,
  GatewayLeaseState,
} from '../../domain/standby/gateway-lease-state.ts'
import type { HostMessage, OpenLease } from '../../domain/standby/lease-protocol.ts'
import { Roster } from '../roster.ts'
import type { AdmissionTiming, Ask } from '../traffic.ts'
import { InstanceAdmission } from './instance-admission.ts'
import type { AdmittedTo } from './instance-admission.ts'
import { InstanceShare } from './instance-share.ts'
import type { LeaseOwner } from './lease-owner.ts'
import { LoadMeter } from './load-meter.ts'
import { Sleepers } from './sleepers.ts'

type Opened = Extract<HostMessage, { kind: 'opened' }>
const noQueue: AdmissionTiming = { queuedUs: 0 }
/**
 * One instance: carries out what the lease machine in `src/domain/standby/gateway-lease.ts` decides, and
 * counts what is in flight.
 */
export class LeasedInstance implements AdmittedTo {
  readonly uuid: string
  nodeId: string
  readonly listening = new Roster<InstanceAdmission>()
  readonly meter: LoadMeter
  readonly share: InstanceShare
  /** The rollout that brings in the version of which the instance is; undefined if there is none. */
  rolloutUuid: string | undefined
  #state: GatewayLeaseState
  #open: Opened | undefined
  /** The place in a trace of the request that wants the lease, until the host is asked. */
  #asker: string | undefined
  #askedPorts: readonly number[] = []
  /** Whether the instance may sleep in this run. It is used when the others are at their soft limits. */
  #maySleep = false
  #owner: LeaseOwner
  #timer: NodeJS.Timeout | undefined
  #lastMs = 0
  #freshBoot = 0
  #freshUntilMs = 0
  readonly #sleepers = new Sleepers()
  /** Boots up to `#goneBoot` are over; boots up to `#closingBoot` shut down. */
  #goneBoot = 0
  #closingBoot = 0
  /** Set while the routes no longer have the instance. */
  #deleted: { readonly grace: NodeJS.Timeout; over: boolean } | undefined

  constructor(options: {
    readonly uuid: string
    readonly nodeId: string
    readonly link: HostConnection
    readonly epoch: number
    readonly owner: LeaseOwner
  }) {
    this.uuid = options.uuid
    this.nodeId = options.nodeId
    this.#owner = options.owner
    this.#state = closedGatewayLease(options.epoch, options.link)
    this.meter = new LoadMeter(this.uuid, this.#owner.nowMs)
    this.share = new InstanceShare({
      nowMs: this.#owner.nowMs,
      inFlight: () => this.inFlight,
      give: (change) => this.#owner.send({ kind: 'gave', instance: this.uuid, ...change }),
      ask: (want) => {
        const { link } = this.#state
        if (link === HostConnection.Up) this.#owner.send({ kind: 'want', instance: this.uuid, ...want })
        // Over a lost connection the host is asked when its agent is back.
        return link === HostConnection.Up || link === HostConnection.Lost
      },
    })
  }

  get inFlight(): number {
    return this.meter.inFlight
  }

  get isOpen(): boolean {
    return isOpen(this.#state)
  }

  get link(): HostConnection {
    return this.#state.link
  }

  /** Whether nothing more may be in flight here. A lease that is asked for will have a share of its own. */
  isFull(hardLimit: number): boolean {
    return this.inFlight >= (this.isOpen ? this.share.limit(hardLimit) : hardLimit)
  }

  get isAsking(): boolean {
    return isAsking(this.#state)
  }

  /** Whether the instance drains or shuts down. It gets nothing new, so asking for it is in vain. */
  get isEnding(): boolean {
    return this.#state.phase === GatewayLeasePhase.Ending
  }

  /** Whether nobody asked for the instance yet. It may run all the same, and then gets its share. */
  get isUnused(): boolean {
    return this.phase === GatewayLeasePhase.Closed && !this.#state.asked && !this.#maySleep
  }

  get phase(): GatewayLeasePhase {
    return this.#state.phase
  }

  get woken(): OpenLease['woken'] {
    return this.#open?.woken
  }

  refusal(nowMs: number): LeaseRefusal | undefined {
    return knownRefusal(this.#state, nowMs)
  }

  held(): { readonly instance: string; readonly boot: number; readonly epoch: number } | undefined {
    const held = heldLease(this.#state)
    return held === undefined ? undefined : { instance: this.uuid, ...held }
  }

  reaches(port: number): boolean {
    return this.#open?.reach[port] !== undefined
  }

  /** Whether the host was already asked for this port, so that asking again would not help. */
  asksFor(port: number): boolean {
    return this.#askedPorts.includes(port)
  }

  /** Whether an answer of the host that may reach the port is under way. */
  awaits(port: number): boolean {
    return this.isAsking || (this.isOpen && this.#state.asked && !this.reaches(port) && this.asksFor(port))
  }

  endOf({ boot, memoryBoot }: InstanceAdmission): 'close' | 'gone' | undefined {
    const now = this.#open?.memoryBoot
    if (boot <= this.#goneBoot || (now !== undefined && now !== memoryBoot)) return 'gone'
    if (this.#deleted !== undefined) return this.#deleted.over ? 'gone' : 'close'
    return boot <= this.#closingBoot ? 'close' : undefined
  }

  hasSlept({ boot }: InstanceAdmission): boolean {
    return this.#open?.boot !== boot
  }

  /** The caller makes sure that the lease is open and reaches the port. */
  admit(ask: Ask, timing: AdmissionTiming = noQueue): InstanceAdmission {
    const open = this.#open
    const address = open?.reach[ask.port]
    if (open === undefined || address === undefined) throw new Error('not open')
    const nowMs = this.#owner.nowMs()
    this.meter.began(ask.kind, nowMs)
    this.#lastMs = nowMs
    const fresh = nowMs < this.#freshUntilMs
    return new InstanceAdmission(this, {
      rolloutUuid: this.rolloutUuid,
      boot: open.boot,
      memoryBoot: open.memoryBoot,
      address,
      fresh,
      timing,
      kind: ask.kind,
    })
  }

  release(admission: InstanceAdmission): void {
    const nowMs = this.#owner.nowMs()
    this.meter.ended(admission.kind, nowMs)
    admission.unlisten()
    this.#sleepers.drop(admission)
    this.#lastMs = nowMs
    if (this.#isCalm()) this.tell({ kind: 'calm', lastMs: this.#lastMs, busy: this.#isBusy() })
    if (this.inFlight === 0 && (this.#state.draining !== 0 || !this.isOpen)) this.tell({ kind: 'empty' })
    this.#owner.moved({ all: false })
  }

  touch(): void {
    this.#lastMs = this.#owner.nowMs()
    // Bytes pass although the lease was given back: the instance must not fall asleep in the middle of them.
    const { phase, patient } = this.#state
    if (phase === GatewayLeasePhase.Closed || patient === true) this.tell({ kind: 'wanted' })
  }

  awaken(admission: InstanceAdmission): Promise<boolean> | undefined {
    const { phase } = this.#state
    if (phase !== GatewayLeasePhase.Closed && phase !== GatewayLeasePhase.Asking) {
      this.#lastMs = this.#owner.nowMs()
      return undefined
    }
    const stands = this.#sleepers.add(admission, this.#owner.maxWaitMs)
    this.tell({ kind: 'wanted' })
    return stands
  }

  /**
   * Called when the routes no longer have the instance. Its host will end it; but a host that is away must
   * not keep its connections open for ever.
   */
  leave(graceMs: number): void {
    if (this.#deleted !== undefined) return
    const grace = setTimeout(() => {
      deleted.over = true
      for (const each of this.listening) each.end('gone')
    }, graceMs)
    grace.unref()
    const deleted = { grace, over: false }
    this.#deleted = deleted
    for (const each of this.listening) each.end('close')
  }

  /** The instance has moved to another host. Only without a lease. */
  move(nodeId: string, link: HostConnection): void {
    this.nodeId = nodeId
    this.tell({ kind: 'moved', link })
  }

  /** Called when the instance does not run, as far as the routes know. */
  rest(): void {
    this.#maySleep = false
  }

  /** Called when the routes have the instance again. */
  stay(): void {
    clearTimeout(this.#deleted?.grace)
    this.#deleted = undefined
  }

  /** Asks for the lease on behalf of a request. */
  want({ trace }: Ask): void {
    this.#asker = trace?.wait
    this.tell({ kind: 'wanted' })
    if (!this.isAsking) this.#asker = undefined
  }

  tell(event: GatewayLeaseEvent): void {
    // Nobody waits in the queue any more, but a connection that was slept through still wants the instance.
    if (event.kind === 'unwanted' && !this.#sleepers.isEmpty) return
    const { state, effects } = decide(this.#state, event, this.#owner.nowMs())
    const dueChanged = state.dueAtMs !== this.#state.dueAtMs
    this.#state = state
    if (state.lease === undefined) this.#open = undefined
    if (dueChanged) this.#arm()
    for (const effect of effects) this.#carryOut(effect)
    if (event.kind === 'link-silent') this.share.hostSilent()
    const isOfLink = event.kind.startsWith('link-') || event.kind === 'moved'
    if (!isOfLink || !this.share.isAsking) return
    if (state.link !== HostConnection.Lost) this.share.forgetQuestion()
    this.#owner.moved({ all: true })
  }

  hear(message: Exclude<HostMessage, { kind: 'welcome' | 'report' | 'beat' }>): void {
    const connected = this.inFlight > 0
    if (message.kind === 'opened') this.#hearOpened(message)
    else if (message.kind === 'share') {
      this.share.answered(message)
      this.#owner.moved({ all: true })
    } else if (message.kind === 'spare')
      this.#owner.send({ kind: 'gave', instance: this.uuid, ...this.share.spare(message) })
    else if (message.kind === 'settings') this.#hearSettings(message)
    else if (message.kind === 'drain' || message.kind === 'close') this.tell({ ...message, connected })
    else if (message.kind === 'rest') this.#hearRest(message)
    else if (message.kind === 'gone') this.#hearGone(message)
    else this.tell(message)
  }

  close(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#deleted?.grace)
    this.#sleepers.wake(undefined)
  }

  #hearOpened(message: Opened): void {
    this.share.opened(message)
    const before = this.#state
    const taken = before.asked && before.epoch === message.epoch
    if (taken) {
      this.#open = message
      this.#maySleep = message.returnAfterMs !== undefined
      if (message.boot !== this.#freshBoot) {
        this.#freshBoot = message.boot
        this.#freshUntilMs = this.#owner.nowMs() + this.#owner.freshMs
      }
      this.#lastMs = this.#owner.nowMs()
      if (message.woken !== undefined) this.#owner.woken(message.woken)
    }
    this.tell(message)
  }

  #hearSettings(message: Extract<HostMessage, { kind: 'settings' }>): void {
    const { boot, returnAfterMs, quietConnectionsSleep } = message
    if (this.#open?.boot === boot) {
      this.#open = { ...this.#open, quietConnectionsSleep }
      this.#maySleep = returnAfterMs !== undefined
    }
    this.tell({
      kind: 'settings',
      boot,
      lastMs: this.#lastMs,
      ...(returnAfterMs === undefined ? {} : { returnAfterMs }),
    })
  }

  /** Those that wait for more of a share that is gone have to ask for the instance again. */
  #hearGone(message: Extract<HostMessage, { kind: 'gone' }>): void {
    const { isAsking } = this.share
    this.share.gone(message.boot)
    this.tell(message)
    if (isAsking && !this.share.isAsking) this.#owner.moved({ all: true })
  }

  /** Connections sleep, too: the memory is kept, and whoever speaks on one wakes the instance. */
  #hearRest(message: Extract<HostMessage, { kind: 'rest' }>): void {
    const requests = this.meter.requests > 0
    this.tell({ ...message, requests, busy: this.#isBusy(), lastMs: this.#lastMs })
  }

  #isCalm(): boolean {
    const { phase } = this.#state
    if (phase === GatewayLeasePhase.Resting) return this.meter.requests === 0
    return phase === GatewayLeasePhase.Busy && !this.#isBusy()
  }

  #isBusy(): boolean {
    return (
      this.meter.requests > 0 || (this.meter.connections > 0 && this.#open?.quietConnectionsSleep !== true)
    )
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const { dueAtMs } = this.#state
    if (dueAtMs === undefined) return
    const delayMs = Math.max(1, Math.ceil(dueAtMs - this.#owner.nowMs()))
    this.#timer = setTimeout(() => {
      this.tell({ kind: 'due', busy: this.#isBusy(), lastMs: this.#lastMs })
      // Node's timers may fire a fraction early: the lease then keeps its due time.
      if (this.#state.dueAtMs === dueAtMs) this.#arm()
    }, delayMs)
    this.#timer.unref()
  }

  #carryOut(effect: GatewayLeaseEffect): void {
    const instance = this.uuid
    switch (effect.kind) {
      case 'open':
        this.#askedPorts = this.#owner.ports()
        this.#owner.send({
          ...effect,
          instance,
          ports: this.#askedPorts,
          limit: this.#owner.hardLimit(),
          ...(this.#asker === undefined ? {} : { traceparent: this.#asker }),
        })
        this.#asker = undefined
        break
      case 'idle': {
        const gave = this.share.return()
        this.#owner.send({ ...effect, instance, ...(gave === undefined ? {} : { gave }) })
        break
      }
      case 'withdraw':
      case 'drained':
        this.#owner.send({ ...effect, instance })
        break
      case 'admit':
        this.#sleepers.wake(this.#open?.memoryBoot)
        this.#owner.moved({ all: true })
        break
      case 'fail':
        this.#sleepers.wake(undefined)
        this.#owner.moved({ all: true })
        break
      case 'end':
        if (effect.why === 'gone') this.#goneBoot = Math.max(this.#goneBoot, effect.boot)
        else if (effect.why === 'close') this.#closingBoot = Math.max(this.#closingBoot, effect.boot)
        for (const each of this.listening) if (each.boot <= effect.boot) each.end(effect.why)
        break
      case 'end-other-memory':
        for (const each of this.listening) if (each.memoryBoot !== effect.memoryBoot) each.end('gone')
        break
      case 'forget':
        this.#owner.forget(effect.boot)
    }
  }
}
