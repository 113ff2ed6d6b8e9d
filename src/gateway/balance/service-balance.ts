import type { RouteService } from '../../domain/service/route-feed.ts'
import type { Admission, Ask, Refusal } from '../traffic.ts'
import type { BalanceLimits } from './balance-limits.ts'
import type { InstanceGate } from './instance-gate.ts'

export interface BalanceOwner {
  readonly nowMs: () => number
  readonly limits: BalanceLimits
  /** Whether one more may wait, which then is counted. */
  queue(): boolean
  unqueue(): void
}

interface Waiter {
  readonly ask: Ask
  readonly sinceMs: number
  readonly resolve: (outcome: Admission | Refusal) => void
  readonly aborted: () => void
  /** Whose waking is awaited. */
  gate: InstanceGate | undefined
}

const denials: ReadonlySet<string | undefined> = new Set(['stopped', 'unknown'])
const wait = 'wait'
type Place = Admission | Refusal | { readonly [wait]: InstanceGate }

/**
 * Spreads the traffic of one service, over all that run: with the first of it those are opened, too, that nobody asked for yet. In
 * this order: the open instance with the fewest under way, below the soft limit; room in what is being woken; another one is woken; the
 * soft limit is exceeded; who comes waits for what is being woken, as far as its hard limit goes; refusal.
 */
export class ServiceBalance {
  readonly #owner: BalanceOwner
  #service: RouteService
  /** Those that may be asked, in the order in which to wake them. */
  #members: readonly InstanceGate[] = []
  /** As many of them run, the first ones. */
  #running = 0
  readonly #waiters: Waiter[] = []
  #turn = 0
  #timer: NodeJS.Timeout | undefined
  #pumping = false

  constructor(owner: BalanceOwner, service: RouteService) {
    this.#owner = owner
    this.#service = service
  }

  get queued(): number {
    return this.#waiters.length
  }

  /** A host denies what the routes tell: that there is something to wake. One of them is about to learn better. */
  get isDisputed(): boolean {
    const nowMs = this.#owner.nowMs()
    return this.#members.some((gate) => denials.has(gate.refusal(nowMs)?.reason))
  }

  /** What the hosts answered may hold no longer. */
  doubtRefusals(): void {
    for (const gate of this.#members) if (!gate.isAsking) gate.tell({ kind: 'news' })
  }

  /** The first `running` of the members run, as far as the routes know. */
  update(service: RouteService, members: readonly InstanceGate[], running: number): void {
    this.#service = service
    this.#members = members
    this.#running = running
    for (const gate of members.slice(running)) gate.rest()
    this.pump({ all: true })
  }

  admit(ask: Ask): Admission | Refusal | Promise<Admission | Refusal> {
    const free = this.#leastBusy(ask.port, this.#service.softLimit)
    if (this.#running > 1) this.#openUnused()
    if (free !== undefined) return free.admit(ask)
    if (ask.signal.aborted) return { admitted: false, reason: 'aborted' }
    const place = this.#place(ask, this.#waiters.length)
    return wait in place ? this.#enqueue(ask, place[wait]) : place
  }

  /**
   * Who waits is looked at again, in the order of coming. Where there is only more room, that ends with the first who goes on
   * waiting, so that a long queue costs nothing; `all` where what some wait for has changed.
   */
  pump({ all }: { readonly all: boolean }): void {
    if (this.#pumping || this.#waiters.length === 0) return
    this.#pumping = true
    for (let index = 0; index < this.#waiters.length;) {
      const waiter = this.#waiters[index]
      if (waiter === undefined) break
      const place = this.#place(waiter.ask, index, waiter)
      if (wait in place) {
        if (!all && waiter.gate === place[wait]) break
        this.#await(waiter, place[wait])
        index += 1
      } else {
        this.#waiters.splice(index, 1)
        this.#settle(waiter, place)
      }
    }
    this.#pumping = false
    this.#watch()
  }

  /** The service is gone. */
  close(): void {
    this.#members = []
    this.pump({ all: true })
    clearTimeout(this.#timer)
  }

  #place(ask: Ask, before: number, waiter?: Waiter): Place {
    const { softLimit, hardLimit } = this.#service
    const free = this.#leastBusy(ask.port, softLimit)
    if (free !== undefined) return free.admit(ask, this.#timing(free, waiter))
    const asking = this.#members.filter((gate) => gate.inFlight < hardLimit && gate.awaits(ask.port))
    // Connections that an instance sleeps through are in flight there.
    const room = asking.reduce((sum, gate) => sum + hardLimit - gate.inFlight, 0)
    const roomy =
      before < Math.min(asking.length * softLimit, room) ? asking[Math.floor(before / softLimit)] : undefined
    if (roomy !== undefined) return { [wait]: roomy }
    const woken = this.#wakeNext(ask)
    if (woken !== undefined) return { [wait]: woken }
    const crowded = this.#leastBusy(ask.port, hardLimit)
    if (crowded !== undefined) return crowded.admit(ask, this.#timing(crowded, waiter))
    const last = asking[asking.length - 1]
    if (last !== undefined && before < room) return { [wait]: last }
    return this.#refusal(ask)
  }

  #openUnused(): void {
    for (let index = 0; index < this.#running; index++) {
      const gate = this.#members[index]
      if (gate?.isUnused && gate.refusal(this.#owner.nowMs()) === undefined) gate.tell({ kind: 'wanted' })
    }
  }

  /** Asking may be refused at once; then the next one is asked. */
  #wakeNext(ask: Ask): InstanceGate | undefined {
    const nowMs = this.#owner.nowMs()
    for (const gate of this.#members) {
      if (gate.inFlight >= this.#service.hardLimit || gate.awaits(ask.port) || gate.isEnding) continue
      if (gate.isOpen) {
        if (gate.reaches(ask.port) || gate.asksFor(ask.port)) continue
        if (gate.refusal(nowMs) !== undefined) continue
        gate.tell({ kind: 'port-missing' })
        return gate
      }
      if (gate.refusal(nowMs) !== undefined) continue
      gate.tell({ kind: 'wanted' })
      if (gate.isAsking) return gate
    }
    return undefined
  }

  #leastBusy(port: number, limit: number): InstanceGate | undefined {
    const members = this.#members
    const count = members.length
    let found: InstanceGate | undefined
    let fewest = limit
    for (let step = 0; step < count; step++) {
      const gate = members[(this.#turn + step) % count]
      if (gate === undefined || gate.inFlight >= fewest || !gate.isOpen || !gate.reaches(port)) continue
      found = gate
      fewest = gate.inFlight
    }
    if (found !== undefined && count > 1) this.#turn = (members.indexOf(found) + 1) % count
    return found
  }

  #refusal({ port }: Ask): Refusal {
    const { hardLimit } = this.#service
    const { retryAfterMs } = this.#owner.limits
    const nowMs = this.#owner.nowMs()
    if (this.#members.some((gate) => (gate.inFlight >= hardLimit && !gate.isEnding) || gate.isAsking)) {
      return { admitted: false, reason: 'hard-limit', retryAfterMs }
    }
    const refusals = this.#members.flatMap((gate) => gate.refusal(nowMs) ?? [])
    const told = refusals.find(({ reason }) => reason === 'failed' || reason === 'host-away')
    if (told !== undefined) {
      return {
        admitted: false,
        reason: told.reason === 'failed' ? 'wake-failed' : 'host-away',
        message: told.message,
        ...(told.failure === undefined ? {} : { failure: told.failure }),
        retryAfterMs: Math.max(1, Math.ceil(told.untilMs - nowMs)),
      }
    }
    if (this.#members.some((gate) => gate.isOpen && !gate.reaches(port))) {
      return {
        admitted: false,
        reason: 'host-away',
        message: `Port ${port} can not be reached.`,
        retryAfterMs,
      }
    }
    return { admitted: false, reason: 'no-instance' }
  }

  #enqueue(ask: Ask, gate: InstanceGate): Refusal | Promise<Admission | Refusal> {
    const { maxQueuedPerService, retryAfterMs } = this.#owner.limits
    if (this.#waiters.length >= maxQueuedPerService || !this.#owner.queue()) {
      return { admitted: false, reason: 'queue-full', retryAfterMs }
    }
    return new Promise((resolve) => {
      const aborted = (): void => this.#leave(waiter, { admitted: false, reason: 'aborted' })
      const waiter: Waiter = { ask, sinceMs: this.#owner.nowMs(), resolve, aborted, gate: undefined }
      ask.signal.addEventListener('abort', aborted, { once: true })
      this.#waiters.push(waiter)
      this.#await(waiter, gate)
      if (this.#waiters.length === 1) this.#watch()
    })
  }

  #await(waiter: Waiter, gate: InstanceGate | undefined): void {
    if (waiter.gate !== undefined) waiter.gate.queued -= 1
    waiter.gate = gate
    if (gate === undefined) return
    gate.queued += 1
    if (gate.isAsking) gate.tell({ kind: 'wanted' })
  }

  #leave(waiter: Waiter, refusal: Refusal): void {
    const index = this.#waiters.indexOf(waiter)
    if (index < 0) return
    this.#waiters.splice(index, 1)
    this.#settle(waiter, refusal)
    if (this.#waiters.length > 0) return
    for (const gate of this.#members) if (gate.isAsking) gate.tell({ kind: 'unwanted' })
    this.#watch()
  }

  #settle(waiter: Waiter, outcome: Admission | Refusal): void {
    this.#await(waiter, undefined)
    this.#owner.unqueue()
    waiter.ask.signal.removeEventListener('abort', waiter.aborted)
    waiter.resolve(outcome)
  }

  #timing(gate: InstanceGate, waiter: Waiter | undefined) {
    if (waiter === undefined) return undefined
    const queuedUs = Math.round((this.#owner.nowMs() - waiter.sinceMs) * 1_000)
    return gate.woken === undefined || waiter.gate !== gate ? { queuedUs } : { queuedUs, wake: gate.woken }
  }

  /** Whoever came first waits the longest, so one timer does for all. */
  #watch(): void {
    clearTimeout(this.#timer)
    const [first] = this.#waiters
    if (first === undefined) return
    const { maxWaitMs, retryAfterMs } = this.#owner.limits
    const leftMs = first.sinceMs + maxWaitMs - this.#owner.nowMs()
    this.#timer = setTimeout(
      () => {
        this.#leave(first, { admitted: false, reason: 'timed-out', retryAfterMs })
        this.#watch()
      },
      Math.max(1, Math.ceil(leftMs)),
    )
    this.#timer.unref()
  }
}
