import type { RouteRollout, RouteService } from '../../domain/service/route-feed.ts'
import type { Admission, Ask, Refusal } from '../traffic.ts'
import type { BalanceLimits } from './balance-limits.ts'
import type { LeasedInstance } from './leased-instance.ts'
import { ServiceBalance } from './service-balance.ts'
import { Waiter, WaitingLine } from './waiting-line.ts'

export interface VersionsOwner {
  readonly nowMs: () => number
  readonly limits: BalanceLimits
  /** Whether one more request may wait. If so, it is counted. */
  queue(): boolean
  unqueue(): void
}

/** The instances of one version. The first `running` of them run, as far as the routes know. */
export interface VersionMembers {
  readonly members: readonly LeasedInstance[]
  readonly running: number
}

const wholePercent = 100

/**
 * All instances of one service. While a rollout brings in a new version, they are two groups: the current
 * version and the next one. Of a hundred requests and connections the next version gets `percent`, exactly
 * and in even steps.
 *
 * A request that one version refuses is given to the other one: to the next version if it has a share of the
 * traffic, to the current version always, because that runs until the rollout is over. If both refuse, the
 * first refusal counts. The version that is asked first may use half of the time that a request may wait, so
 * that the other one has as much.
 *
 * While the rollout is held, all requests wait outside of both versions, also those that had waited for one
 * of them. They are divided when the hold ends.
 */
export class ServiceVersions {
  readonly #owner: VersionsOwner
  readonly #current: ServiceBalance
  /** Present while the routes have a rollout. */
  #next: ServiceBalance | undefined
  #rollout: RouteRollout | undefined
  /** Those that wait for the end of a hold. */
  readonly #held: WaitingLine
  /** How many hundredths of a request the next version has not had yet. */
  #owed = 0
  #waiting = 0

  constructor(owner: VersionsOwner, service: RouteService) {
    this.#owner = owner
    this.#current = this.#groupOf(service)
    this.#held = new WaitingLine(owner.nowMs, (waiter, reason) => {
      const { retryAfterMs } = owner.limits
      waiter.settle({
        admitted: false,
        ...(reason === 'aborted' ? { reason } : { reason, retryAfterMs }),
      })
    })
  }

  /** Whether hosts and routes disagree about an instance that could get traffic (`ServiceBalance`). */
  get isDisputed(): boolean {
    return this.#current.isDisputed || this.#nextWithShare?.isDisputed === true
  }

  /** Forgets the refusals of the hosts, which may no longer be true. */
  doubtRefusals(): void {
    this.#current.doubtRefusals()
    this.#nextWithShare?.doubtRefusals()
  }

  admit(ask: Ask): Admission | Refusal | Promise<Admission | Refusal> {
    const rollout = this.#rollout
    return rollout === undefined ? this.#current.admit(ask) : this.#divide(ask, rollout)
  }

  pump(change: { readonly all: boolean }): void {
    this.#current.pump(change)
    this.#next?.pump(change)
  }

  /** `next` counts only if the service has a rollout. */
  update(service: RouteService, current: VersionMembers, next: VersionMembers): void {
    const { rollout } = service
    this.#rollout = rollout
    if (rollout !== undefined) this.#next ??= this.#groupOf(service)
    const displaced = this.#displaced()
    this.#current.update(service, current.members, current.running)
    if (rollout === undefined) this.#next = undefined
    else this.#next?.update(service, next.members, next.running)
    for (const waiter of displaced) this.#place(waiter)
  }

  /** Called when the service no longer exists: refuses the waiting requests. */
  close(): void {
    const waiters = [...this.#current.close(), ...(this.#next?.close() ?? []), ...this.#held.take(() => true)]
    this.#held.close()
    for (const waiter of waiters) waiter.settle({ admitted: false, reason: 'no-instance' })
  }

  get #nextWithShare(): ServiceBalance | undefined {
    return this.#rollout !== undefined && this.#rollout.percent > 0 ? this.#next : undefined
  }

  /** Returns the group that gets a request which `group` refused. */
  #otherThan(group: ServiceBalance, ask: Ask): ServiceBalance | undefined {
    if (this.#rollout === undefined) return undefined
    if (group !== this.#current) return this.#current
    return ask.onlyCurrent === true ? undefined : this.#nextWithShare
  }

  #groupOf(service: RouteService): ServiceBalance {
    const { nowMs, limits } = this.#owner
    const group: ServiceBalance = new ServiceBalance(
      {
        nowMs,
        limits,
        waiterFor: (ask, refusal) => this.#waiterFor(group, ask, refusal),
        refused: (waiter, refusal) => this.#refused(group, waiter, refusal),
      },
      service,
    )
    return group
  }

  #divide(ask: Ask, rollout: RouteRollout): Admission | Refusal | Promise<Admission | Refusal> {
    if (rollout.held) return this.#hold(ask)
    const first = this.#choose(ask, rollout)
    const outcome = first.admit(ask)
    if (outcome instanceof Promise || outcome.admitted || outcome.reason === 'aborted') return outcome
    const refusal = this.#told(first, outcome)
    const second = this.#otherThan(first, ask)?.admit(ask, refusal)
    return second instanceof Promise || second?.admitted === true ? second : refusal
  }

  #choose(ask: Ask, { percent }: RouteRollout): ServiceBalance {
    if (ask.onlyCurrent === true) return this.#current
    this.#owed += percent
    if (this.#owed < wholePercent || this.#next === undefined) return this.#current
    this.#owed -= wholePercent
    return this.#next
  }

  /** A refusal of the next version counts as an answer of that version. */
  #told(group: ServiceBalance, refusal: Refusal): Refusal {
    const rollout = this.#rollout
    return rollout === undefined || group === this.#current
      ? refusal
      : { ...refusal, rolloutUuid: rollout.uuid }
  }

  #hold(ask: Ask): Refusal | Promise<Admission | Refusal> {
    if (ask.signal.aborted) return { admitted: false, reason: 'aborted' }
    const waiter = this.#waiterFor(undefined, ask, undefined)
    if (waiter === undefined) {
      return { admitted: false, reason: 'queue-full', retryAfterMs: this.#owner.limits.retryAfterMs }
    }
    this.#held.add(waiter)
    return waiter.outcome
  }

  #waiterFor(group: ServiceBalance | undefined, ask: Ask, refusal: Refusal | undefined): Waiter | undefined {
    if (this.#waiting >= this.#owner.limits.maxQueuedPerService || !this.#owner.queue()) return undefined
    this.#waiting += 1
    const over = (): void => {
      this.#waiting -= 1
      this.#owner.unqueue()
    }
    const waiter = new Waiter(ask, { sinceMs: this.#owner.nowMs(), over })
    waiter.refusal = refusal
    this.#limit(waiter, group)
    return waiter
  }

  /** Sets how long a waiter waits for a group: half of what is left if another one may get it after that. */
  #limit(waiter: Waiter, group: ServiceBalance | undefined): void {
    const nowMs = this.#owner.nowMs()
    const endMs = this.#endMs(waiter)
    const isFirst =
      waiter.refusal === undefined && group !== undefined && this.#otherThan(group, waiter.ask) !== undefined
    waiter.untilMs = isFirst ? nowMs + Math.max(0, endMs - nowMs) / 2 : endMs
  }

  #endMs({ sinceMs }: Waiter): number {
    return sinceMs + this.#owner.limits.maxWaitMs
  }

  /**
   * Takes those waiters out of their lines that may not wait there any more, now that the routes have
   * changed.
   */
  #displaced(): readonly Waiter[] {
    const rollout = this.#rollout
    if (rollout?.held === true) return [...this.#current.giveAway(), ...(this.#next?.giveAway() ?? [])]
    const held = this.#held.take(() => true)
    if (rollout === undefined) return [...held, ...(this.#next?.close() ?? [])]
    if (rollout.percent <= 0) return [...held, ...(this.#next?.giveAway() ?? [])]
    if (rollout.percent < wholePercent) return held
    // Those that the next version refused go on waiting for the current one.
    const isFirst = ({ ask, refusal }: Waiter): boolean => refusal === undefined && ask.onlyCurrent !== true
    return [...held, ...this.#current.giveAway(isFirst)]
  }

  /** Lets a waiter wait where new requests would. */
  #place(waiter: Waiter): void {
    const rollout = this.#rollout
    waiter.refusal = undefined
    if (rollout?.held !== true) {
      return this.#give(waiter, rollout === undefined ? this.#current : this.#choose(waiter.ask, rollout))
    }
    this.#limit(waiter, undefined)
    this.#held.add(waiter)
  }

  #give(waiter: Waiter, group: ServiceBalance): void {
    this.#limit(waiter, group)
    const refusal = group.take(waiter)
    if (refusal !== undefined) this.#refused(group, waiter, refusal)
  }

  #refused(group: ServiceBalance, waiter: Waiter, refusal: Refusal): void {
    if (refusal.reason === 'aborted') return waiter.settle(refusal)
    if (waiter.refusal !== undefined) return waiter.settle(waiter.refusal)
    const other = this.#otherThan(group, waiter.ask)
    if (other !== undefined) {
      waiter.refusal = this.#told(group, refusal)
      return this.#give(waiter, other)
    }
    // Its time was halved for the sake of a rollout that is over.
    const goesOn = refusal.reason === 'timed-out' && this.#owner.nowMs() < this.#endMs(waiter)
    if (goesOn) this.#give(waiter, this.#current)
    else waiter.settle(refusal)
  }
}
