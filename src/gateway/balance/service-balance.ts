import { HostConnection } from '../../domain/standby/gateway-lease-state.ts'
import type { RouteService } from '../../domain/service/route-feed.ts'
import type { Admission, Ask, Refusal } from '../traffic.ts'
import type { BalanceLimits } from './balance-limits.ts'
import type { LeasedInstance } from './leased-instance.ts'
import { WaitingLine } from './waiting-line.ts'
import type { Waiter } from './waiting-line.ts'

export interface BalanceOwner {
  readonly nowMs: () => number
  readonly limits: BalanceLimits
  /** Makes a waiter for the request; undefined if no more may wait. `refusal` is that of `admit`. */
  waiterFor(ask: Ask, refusal: Refusal | undefined): Waiter | undefined
  /** Called for a waiter that is refused. It is in no line any more. */
  refused(waiter: Waiter, refusal: Refusal): void
}

const Limit = { Soft: 'soft', Hard: 'hard' } as const
type Limit = (typeof Limit)[keyof typeof Limit]

const denials: ReadonlySet<string | undefined> = new Set(['stopped', 'unknown', 'draining'])
const wait = 'wait'
type Answer = Admission | Refusal | { readonly [wait]: LeasedInstance }

/**
 * Spreads the traffic of one version of a service over all its instances that run. The first request also
 * opens the running instances that nobody asked for yet. A request gets the first of these that is possible:
 * 1. the open instance with the fewest in flight, below the soft limit;
 * 2. a wait for what is being woken, below the soft limit;
 * 3. a wait for a larger share of an open instance's hard limit, if other gateways leave some of it unused;
 * 4. another instance, which is woken for it;
 * 5. an open instance above its soft limit;
 * 6. a wait for what is being woken, as far as the hard limit goes;
 * 7. a wait as in 3. for a host whose agent ended a moment ago, and can not be asked yet;
 * 8. a refusal.
 * Of the limits of an instance, each gateway has a share (`InstanceShare`).
 */
export class ServiceBalance {
  readonly #owner: BalanceOwner
  #service: RouteService
  /** The instances that may be asked, in the order in which to wake them. */
  #members: readonly LeasedInstance[] = []
  /** The first `#running` members are awake; the others would have to be woken first. */
  #running = 0
  readonly #line: WaitingLine
  #turn = 0
  #pumping = false

  constructor(owner: BalanceOwner, service: RouteService) {
    this.#owner = owner
    this.#service = service
    this.#line = new WaitingLine(owner.nowMs, (waiter, reason) => {
      const { retryAfterMs } = owner.limits
      this.#leave(waiter, {
        admitted: false,
        ...(reason === 'aborted' ? { reason } : { reason, retryAfterMs }),
      })
    })
  }

  get queued(): number {
    return this.#line.length
  }

  /**
   * Whether host and routes disagree: a host says that there is nothing to wake, or ends an instance, and
   * the routes say that there is one to serve. One of the two is about to learn what the other knows, or the
   * instance restarts.
   */
  get isDisputed(): boolean {
    const nowMs = this.#owner.nowMs()
    return this.#members.some((member) => member.isEnding || denials.has(member.refusal(nowMs)?.reason))
  }

  /** Forgets the refusals of the hosts, which may no longer be true. */
  doubtRefusals(): void {
    for (const member of this.#members) if (!member.isAsking) member.tell({ kind: 'news' })
  }

  /**
   * Replaces the service and its members. The first `running` of the members run, as far as the routes
   * know.
   */
  update(service: RouteService, members: readonly LeasedInstance[], running: number): void {
    this.#service = service
    this.#members = members
    this.#running = running
    for (const member of members.slice(running)) member.rest()
    this.pump({ all: true })
  }

  /** `refusal`: what another version answered, if this one is asked in its place. */
  admit(ask: Ask, refusal?: Refusal): Admission | Refusal | Promise<Admission | Refusal> {
    const free = this.#leastBusy(ask.port, Limit.Soft)
    if (this.#running > 1) this.#openUnused()
    if (free !== undefined) return free.admit(ask)
    if (ask.signal.aborted) return { admitted: false, reason: 'aborted' }
    const answer = this.#answer(ask, this.#line.length)
    return wait in answer ? this.#enqueue(ask, answer[wait], refusal) : answer
  }

  /** Takes a waiter that is in no line. Returns the refusal if it can not even wait here. */
  take(waiter: Waiter): Refusal | undefined {
    const answer = this.#answer(waiter.ask, this.#line.length, waiter)
    if (wait in answer) {
      this.#line.add(waiter)
      this.#await(waiter, answer[wait])
    } else if (answer.admitted) waiter.settle(answer)
    else return answer
    return undefined
  }

  /** Gives those waiters away that `which` chooses. They are in no line then. */
  giveAway(which: (waiter: Waiter) => boolean = () => true): readonly Waiter[] {
    if (this.#line.length === 0) return []
    const given = this.#line.take(which)
    for (const waiter of given) this.#await(waiter, undefined)
    if (this.#line.length === 0) this.#withdraw()
    return given
  }

  /**
   * Looks again at the waiting requests, in the order of arrival. With `all`, what some of them wait for
   * has changed. Without `all` there is only more room: the look then ends at the first request that has to
   * go on waiting, so that a long queue costs nothing.
   */
  pump({ all }: { readonly all: boolean }): void {
    if (this.#pumping || this.#line.length === 0) return
    this.#pumping = true
    for (let index = 0; index < this.#line.length;) {
      const waiter = this.#line.at(index)
      if (waiter === undefined) break
      const answer = this.#answer(waiter.ask, index, waiter)
      if (wait in answer) {
        if (!all && waiter.member === answer[wait]) break
        this.#await(waiter, answer[wait])
        index += 1
      } else {
        // The other version may have given this one a waiter meanwhile, so the index may have changed.
        this.#line.remove(waiter, index)
        this.#settle(waiter, answer)
      }
    }
    this.#pumping = false
  }

  /** Called when this is over. Returns the waiters. */
  close(): readonly Waiter[] {
    this.#members = []
    this.#line.close()
    return this.giveAway()
  }

  #answer(ask: Ask, before: number, waiter?: Waiter): Answer {
    const { softLimit, hardLimit } = this.#service
    const free = this.#leastBusy(ask.port, Limit.Soft)
    if (free !== undefined) return free.admit(ask, this.#timing(free, waiter))
    const asking = this.#members.filter((member) => member.inFlight < hardLimit && member.awaits(ask.port))
    // An instance that is being woken may have connections in flight: those that it slept through.
    const room = asking.reduce((sum, member) => sum + hardLimit - member.inFlight, 0)
    const roomy =
      before < Math.min(asking.length * softLimit, room) ? asking[Math.floor(before / softLimit)] : undefined
    if (roomy !== undefined) return { [wait]: roomy }
    const growing = this.#growNext(ask, before, HostConnection.Up)
    if (growing !== undefined) return { [wait]: growing }
    const woken = this.#wakeNext(ask)
    if (woken !== undefined) return { [wait]: woken }
    const crowded = this.#leastBusy(ask.port, Limit.Hard)
    if (crowded !== undefined) return crowded.admit(ask, this.#timing(crowded, waiter))
    const last = asking[asking.length - 1]
    if (last !== undefined && before < room) return { [wait]: last }
    const later = this.#growNext(ask, before, HostConnection.Lost)
    return later === undefined ? this.#refusal(ask) : { [wait]: later }
  }

  #openUnused(): void {
    for (let index = 0; index < this.#running; index++) {
      const member = this.#members[index]
      if (member?.isUnused && member.refusal(this.#owner.nowMs()) === undefined)
        member.tell({ kind: 'wanted' })
    }
  }

  /**
   * Asks for more of the hard limit of an open instance whose share is used up. No more wait than the limit
   * could permit.
   */
  #growNext({ port }: Ask, before: number, link: HostConnection): LeasedInstance | undefined {
    const { hardLimit } = this.#service
    return this.#members.find(
      (member) =>
        member.isOpen &&
        member.link === link &&
        member.reaches(port) &&
        member.isFull(hardLimit) &&
        before < hardLimit - member.inFlight &&
        member.share.want(before + 1, hardLimit),
    )
  }

  /**
   * Asks for the next instance that may be woken. If the request for its lease is refused at once, asks for
   * the instance after it, and so on.
   */
  #wakeNext(ask: Ask): LeasedInstance | undefined {
    const nowMs = this.#owner.nowMs()
    for (const member of this.#members) {
      if (member.isFull(this.#service.hardLimit) || member.awaits(ask.port) || member.isEnding) continue
      if (member.isOpen) {
        if (member.reaches(ask.port) || member.asksFor(ask.port)) continue
        if (member.refusal(nowMs) !== undefined) continue
        member.tell({ kind: 'port-missing' })
        return member
      }
      if (member.refusal(nowMs) !== undefined) continue
      member.want(ask)
      if (member.isAsking) return member
    }
    return undefined
  }

  #leastBusy(port: number, which: Limit): LeasedInstance | undefined {
    const members = this.#members
    const count = members.length
    const { softLimit, hardLimit } = this.#service
    let found: LeasedInstance | undefined
    let fewest = Infinity
    for (let step = 0; step < count; step++) {
      const member = members[(this.#turn + step) % count]
      if (member === undefined || member.inFlight >= fewest || !member.isOpen || !member.reaches(port))
        continue
      const { share } = member
      const limit = which === Limit.Soft ? share.softLimit(softLimit, hardLimit) : share.limit(hardLimit)
      if (member.inFlight >= limit) continue
      found = member
      fewest = member.inFlight
    }
    if (found !== undefined && count > 1) this.#turn = (members.indexOf(found) + 1) % count
    return found
  }

  #refusal({ port }: Ask): Refusal {
    const { hardLimit } = this.#service
    const { retryAfterMs } = this.#owner.limits
    const nowMs = this.#owner.nowMs()
    // A used-up share says nothing of the hard limit while the host can not be asked for more.
    const isAtLimit = (member: LeasedInstance): boolean =>
      member.inFlight >= hardLimit || (member.isFull(hardLimit) && member.refusal(nowMs) === undefined)
    if (this.#members.some((member) => member.isAsking || (!member.isEnding && isAtLimit(member))))
      return { admitted: false, reason: 'hard-limit', retryAfterMs }
    const refusals = this.#members.flatMap((member) => member.refusal(nowMs) ?? [])
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
    if (this.#members.some((member) => member.isOpen && !member.reaches(port))) {
      return {
        admitted: false,
        reason: 'host-away',
        message: `Port ${port} can not be reached.`,
        retryAfterMs,
      }
    }
    return { admitted: false, reason: 'no-instance' }
  }

  #enqueue(
    ask: Ask,
    member: LeasedInstance,
    refusal: Refusal | undefined,
  ): Refusal | Promise<Admission | Refusal> {
    const waiter = this.#owner.waiterFor(ask, refusal)
    if (waiter === undefined) {
      return { admitted: false, reason: 'queue-full', retryAfterMs: this.#owner.limits.retryAfterMs }
    }
    this.#line.add(waiter)
    this.#await(waiter, member)
    return waiter.outcome
  }

  #await(waiter: Waiter, member: LeasedInstance | undefined): void {
    if (waiter.member !== undefined) waiter.member.meter.queued -= 1
    waiter.member = member
    if (member === undefined) return
    member.meter.queued += 1
    if (member.isAsking) member.tell({ kind: 'wanted' })
  }

  /** Called for a waiter that has left the line by itself. */
  #leave(waiter: Waiter, refusal: Refusal): void {
    this.#settle(waiter, refusal)
    if (this.#line.length === 0) this.#withdraw()
  }

  /** Wakes nothing more, because nobody waits. */
  #withdraw(): void {
    for (const member of this.#members) if (member.isAsking) member.tell({ kind: 'unwanted' })
  }

  #settle(waiter: Waiter, outcome: Admission | Refusal): void {
    this.#await(waiter, undefined)
    if (outcome.admitted) waiter.settle(outcome)
    else this.#owner.refused(waiter, outcome)
  }

  #timing(member: LeasedInstance, waiter: Waiter | undefined) {
    if (waiter === undefined) return undefined
    const queuedUs = Math.round((this.#owner.nowMs() - waiter.sinceMs) * 1_000)
    return member.woken === undefined || waiter.member !== member
      ? { queuedUs }
      : { queuedUs, wake: member.woken }
  }
}
