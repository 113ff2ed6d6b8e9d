import { LeasePhase } from './host-lease-phase.ts'
import type { Context } from './host-lease-move.ts'
import type { HostLeaseState, IdlePeriod, Lease } from './host-lease-state.ts'
import { openShare, settleShares } from './host-shares.ts'
import { mayStandBy, sleepsThroughConnections } from './scale-to-zero.ts'
import type { ScaleToZero } from './scale-to-zero.ts'
import type { LeaseTerms, OpenRefusal } from './lease-protocol.ts'

/** How long the host waits for an order before it reports an idle period again. */
export const idleRepeatMs = 15_000
/**
 * The shortest and the longest time for which a lease carries nothing before its gateway returns it.
 * Between these bounds the time is half of the cooldown.
 */
export const shortestSettleMs = 20
export const longestSettleMs = 1_000
/** How long a refused gateway has to wait before it asks again. */
export const refusalRetryMs = 1_000

/** Decides all that follows from the noted facts. Its own result settles to the same state again. */
export function settle(state: HostLeaseState, context: Context): HostLeaseState {
  const settled = settlePhase[state.phase](expireLeases(state, context), context)
  return settleIdle(settleShares(settled, context), context)
}

type Settlement = (state: HostLeaseState, context: Context) => HostLeaseState

const settlePhase = {
  [LeasePhase.None]: refuseWith({ reason: 'stopped', message: 'The instance is stopped.' }),
  [LeasePhase.Starting]: (state) => state,
  [LeasePhase.Running]: openWaiting,
  [LeasePhase.Draining]: (state, context) => answerDrain(refuseDraining(state, context), context),
  [LeasePhase.StandingBy]: (state, context) => hurryIfAwaited(sleepIfRested(state, context), context),
  [LeasePhase.Asleep]: wakeIfAwaited,
  [LeasePhase.Held]: (state) => state,
  [LeasePhase.Waking]: (state) => state,
  [LeasePhase.Stopping]: refuseDraining,
} as const satisfies Record<LeasePhase, Settlement>

function refuseDraining(state: HostLeaseState, context: Context): HostLeaseState {
  return refuseWith({ reason: 'draining', message: 'The instance is shutting down.' })(state, context)
}

export function refuseWith(
  refusal: Omit<OpenRefusal, 'retryAfterMs'> & { readonly retryAfterMs?: number },
): Settlement {
  return (state, { effects }) => {
    // A failed wake is no answer to those who did not ask for it. They wait for the next one.
    const isAnswered = ({ status, patient }: Lease): boolean =>
      status === 'waiting' && (patient !== true || refusal.reason !== 'failed')
    const answered = state.leases.filter(isAnswered)
    if (answered.length === 0) return state
    for (const { gateway, epoch } of answered) {
      effects.push({ kind: 'refused', gateway, epoch, retryAfterMs: refusalRetryMs, ...refusal })
    }
    const leases = state.leases.flatMap((lease) => (isAnswered(lease) ? withoutWaiting(lease) : [lease]))
    return { ...state, leases }
  }
}

/**
 * Ends a waiting `open`. If the gateway had a lease of an earlier boot, that stays as returned, so that the
 * gateway still hears how that boot ends.
 */
function withoutWaiting(lease: Lease): readonly Lease[] {
  const { heldEpoch: _refused, patient: _past, ...known } = lease
  return lease.boot === 0 ? [] : [{ ...known, status: 'returned', waited: false }]
}

function openWaiting(state: HostLeaseState, { nowMs, effects }: Context): HostLeaseState {
  if (!state.leases.some(({ status }) => status === 'waiting')) return state
  const { boot, memoryBoot, settings, kind } = state
  let opened = state
  const leases = state.leases.map((lease): Lease => {
    if (lease.status !== 'waiting') return lease
    const { gateway, epoch, ports, waited, askedAtMs, limit } = lease
    const share = limit === undefined ? undefined : openShare(opened, { gateway, limit }, { nowMs })
    opened = share?.state ?? opened
    effects.push({
      kind: 'opened',
      gateway,
      epoch,
      ports,
      boot,
      memoryBoot,
      ...leaseTerms(settings),
      ...(share === undefined ? {} : { share: share.more }),
      ...(waited && kind !== undefined
        ? { woken: { kind, wakeUs: Math.round((nowMs - askedAtMs) * 1_000) } }
        : {}),
    })
    const { heldEpoch: _before, patient: _over, ...known } = lease
    return { ...known, status: 'held', boot, waited: false, drained: false }
  })
  return touched({ ...opened, leases }, { nowMs })
}

/**
 * Notes that traffic came. From now on quiet begins after the last traffic, and no longer after the time
 * that a fresh boot has to begin listening.
 */
export function touched(state: HostLeaseState, { nowMs }: Pick<Context, 'nowMs'>): HostLeaseState {
  return { ...state, touched: true, quietFromMs: Math.min(state.quietFromMs, nowMs) }
}

export function leaseTerms(settings: ScaleToZero): LeaseTerms {
  const quietConnectionsSleep = sleepsThroughConnections(settings)
  if (!mayStandBy(settings)) return { quietConnectionsSleep }
  const half = Math.round(settings.cooldownMs / 2)
  return { quietConnectionsSleep, returnAfterMs: Math.min(longestSettleMs, Math.max(shortestSettleMs, half)) }
}

function answerDrain(state: HostLeaseState, { effects, nowMs }: Context): HostLeaseState {
  if (!isDrained(state) || state.toldFromMs > nowMs) return state
  effects.push({ kind: 'answer-drain', boot: state.boot })
  return { ...state, drainAnswered: true }
}

/** Whether a drain is over that was not answered yet, as far as gateways have told. */
export function isDrained({ phase, drainAnswered, leases }: HostLeaseState): boolean {
  return phase === LeasePhase.Draining && !drainAnswered && leases.every(({ drained }) => drained)
}

/** Begins the sleep that a user asked for, once no gateway holds a lease. */
function sleepIfRested(state: HostLeaseState, { effects, nowMs }: Context): HostLeaseState {
  const { order, restUntilMs, ...rest } = state
  if (order === undefined || restUntilMs === undefined) return state
  if (state.unsureUntilMs > nowMs || isHeld(state)) return state
  effects.push({ kind: 'sleep', order })
  return { ...rest, order }
}

function hurryIfAwaited(state: HostLeaseState, { effects }: Context): HostLeaseState {
  const { order } = state
  if (order === undefined || order.stateful || order.boot === 0 || state.hurried || !isUsed(state))
    return state
  effects.push({ kind: 'hurry', boot: order.boot })
  return { ...state, hurried: true }
}

function wakeIfAwaited(state: HostLeaseState, context: Context): HostLeaseState {
  const { wakeFailure, peersWait } = state
  if (!isUsed(state) && peersWait !== true) return state
  if (wakeFailure === undefined || wakeFailure.retryAtMs <= context.nowMs) return wake(state, context)
  return refuseWith({
    reason: 'failed',
    failure: wakeFailure.failure,
    message: wakeFailure.message,
    retryAfterMs: wakeFailure.retryAtMs - context.nowMs,
  })(state, context)
}

function wake(state: HostLeaseState, { effects }: Context): HostLeaseState {
  const { peersWait, ...rest } = state
  if (state.permit === undefined) return { ...rest, phase: LeasePhase.None }
  effects.push({ kind: 'wake', boot: state.permit })
  return { ...rest, ...(peersWait === true ? { peersWoke: true } : {}), phase: LeasePhase.Waking }
}

/**
 * Drops the leases of a gateway that has been lost for too long. The end of its traffic is not known, so
 * quiet begins now.
 */
function expireLeases(state: HostLeaseState, { nowMs }: Context): HostLeaseState {
  const isOver = ({ keptUntilMs }: Lease): boolean => keptUntilMs !== undefined && keptUntilMs <= nowMs
  const over = state.leases.filter(isOver)
  if (over.length === 0) return state
  const leases = state.leases.filter((lease) => !isOver(lease))
  return over.some(({ status }) => status === 'held')
    ? { ...state, leases, quietFromMs: Math.max(state.quietFromMs, nowMs) }
    : { ...state, leases }
}

/**
 * Reports an idle period once it has lasted for the cooldown. A shorter one would lead to nothing, and
 * every report costs the workflow a decision: for an instance that is requested again and again, that would
 * be one each second.
 */
function settleIdle(state: HostLeaseState, context: Context): HostLeaseState {
  const { nowMs, effects } = context
  if (!couldIdle(state) || state.unsureUntilMs > nowMs || state.quietFromMs > nowMs) {
    const { idle: _over, ...rest } = state
    return rest
  }
  if (state.idle !== undefined) return tellIdleIfDue(state, state.idle, context)
  const epoch = Math.max(state.lastEpoch + 1, Math.floor(nowMs))
  const sinceMs = Math.max(state.quietFromMs, state.unsureUntilMs)
  const idle: IdlePeriod = { epoch, sinceMs, tellAtMs: sinceMs + state.settings.cooldownMs }
  effects.push({ kind: 'count-peers', epoch })
  return tellIdleIfDue({ ...state, idle, lastEpoch: epoch }, idle, context)
}

function tellIdleIfDue(state: HostLeaseState, idle: IdlePeriod, { nowMs, effects }: Context): HostLeaseState {
  if (idle.tellAtMs > nowMs) return state
  const { epoch, sinceMs } = idle
  effects.push({ kind: 'tell-idle', boot: state.boot, epoch, sinceMs })
  return { ...state, idle: { ...idle, tellAtMs: nowMs + idleRepeatMs } }
}

export function couldIdle(state: HostLeaseState): boolean {
  return state.phase === LeasePhase.Running && mayStandBy(state.settings) && !state.disabled && !isUsed(state)
}

/** Whether some gateway sends or may send. */
export function isHeld({ leases }: HostLeaseState): boolean {
  return leases.some(({ status, heldEpoch }) => status === 'held' || heldEpoch !== undefined)
}

/** Whether some gateway sends, may send, or wants to, so that the instance has to be awake. */
export function isUsed({ leases }: HostLeaseState): boolean {
  return leases.some(({ status, patient }) => status !== 'returned' && patient !== true)
}
