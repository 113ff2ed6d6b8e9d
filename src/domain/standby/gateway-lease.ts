import { HostConnection, GatewayLeasePhase, hostAwayRetryMs } from './gateway-lease-state.ts'
import type {
  GatewayLeaseEffect,
  GatewayLeaseEvent,
  LeaseRefusal,
  GatewayLeaseState,
  GatewayLeaseStep,
} from './gateway-lease-state.ts'

/**
 * The gateway's side of one instance's lease (`lease-protocol.ts`). The host decides; the gateway keeps to
 * what the host said.
 *
 * ```
 *            wanted            opened              due, something is under way
 *   closed ─────────► asking ─────────► open ◄─────────────────────────► busy
 *    ▲  ▲               │                │  ▲           calm              │
 *    │  └── refused ────┘                │  │ undrain, opened             │
 *    │                                   ▼  │                             │
 *    │   empty, gone                   ending ◄── drain, close ───────────┤
 *    ├─────────────────────────────────  │                                │
 *    │   refused, gone, unreachable    unsure ◄── link-silent ────────────┘
 *    └─── due, nothing under way (the lease is given back), gone ─── from open
 * ```
 *
 * Open, busy and unsure lead to resting when the instance is to sleep at a user's word. From there the lease
 * is given back (calm, due), or goes on (undrain, opened), or is ending (drain, close). Requests that come
 * meanwhile wait. The host is asked for them as soon as the lease is given back. For what is still in flight
 * then, it is asked patiently: the lease is opened after the next wake, whoever causes that.
 *
 * An instance moves asleep, so its old host has the lease back by then. What waited for an answer there asks
 * the new host. What is in flight goes on if that one has the same memory.
 *
 * Answers to an older `open` than the newest are ignored, and so are messages about a boot older than the
 * lease's. An answer for which nobody waits any more still opens the lease, because the host counts the lease
 * until it is given back. A lease for an `open` that was given up while the host was silent is given back at
 * once.
 */
export function decide(state: GatewayLeaseState, event: GatewayLeaseEvent, nowMs: number): GatewayLeaseStep {
  const effects: GatewayLeaseEffect[] = []
  const next = moves[event.kind](state, event as never, { nowMs, effects })
  return { state: next, effects }
}

/** Whether new traffic may be sent. */
export function isOpen({ phase }: GatewayLeaseState): boolean {
  return phase === GatewayLeasePhase.Open || phase === GatewayLeasePhase.Busy
}

/** Whether an answer will come that admits the waiting requests, or says why not. */
export function isAsking(state: GatewayLeaseState): boolean {
  if (state.phase !== GatewayLeasePhase.Resting)
    return state.asked && !isOpen(state) && state.patient !== true
  return state.link !== HostConnection.Away && state.link !== HostConnection.Down
}

/** The refusal that asking would get, as far as is known. */
export function knownRefusal(state: GatewayLeaseState, nowMs: number): LeaseRefusal | undefined {
  if (state.link === HostConnection.Away || state.link === HostConnection.Down) return hostAway(nowMs)
  const { refusal } = state
  return refusal !== undefined && refusal.untilMs > nowMs ? refusal : undefined
}

/** The lease in the form in which `hello` lists it. */
export function heldLease(
  state: GatewayLeaseState,
): { readonly boot: number; readonly epoch: number } | undefined {
  return state.lease === undefined ? undefined : { boot: state.lease.boot, epoch: state.lease.epoch }
}

interface Context {
  readonly nowMs: number
  readonly effects: GatewayLeaseEffect[]
}

type Move<K extends GatewayLeaseEvent['kind']> = (
  state: GatewayLeaseState,
  event: Extract<GatewayLeaseEvent, { kind: K }>,
  context: Context,
) => GatewayLeaseState

const moves: { readonly [K in GatewayLeaseEvent['kind']]: Move<K> } = {
  wanted(state, _event, context) {
    const { effects, nowMs } = context
    if (isOpen(state)) {
      effects.push({ kind: 'admit' })
      return state
    }
    const refusal = knownRefusal(state, nowMs) ?? endingRefusal(state, nowMs)
    if (refusal !== undefined) {
      effects.push({ kind: 'fail', refusal })
      return state
    }
    const { patient, ...rest } = state
    const wanted = { ...rest, wanted: true }
    if (state.phase === GatewayLeasePhase.Resting) return wanted
    return state.asked && patient !== true ? wanted : ask(wanted, context)
  },

  unwanted(state, _event, { effects }) {
    if (!state.wanted) return state
    if (state.asked && !isOpen(state)) effects.push({ kind: 'withdraw', epoch: state.epoch })
    return { ...state, wanted: false }
  },

  'port-missing'(state, _event, context) {
    if (!isOpen(state)) return moves.wanted(state, { kind: 'wanted' }, context)
    const wanted = { ...state, wanted: true }
    return state.asked ? wanted : ask(wanted, context)
  },

  due(state, { busy, lastMs }, context) {
    const { lease } = state
    if (state.phase === GatewayLeasePhase.Resting) {
      return (state.dueAtMs ?? 0) > context.nowMs ? state : restNow(state, { busy, lastMs }, context)
    }
    if (state.phase !== GatewayLeasePhase.Open || lease?.returnAfterMs === undefined) return state
    if (busy) return withoutDue({ ...state, phase: GatewayLeasePhase.Busy })
    // The lease is kept while a second `open` is under way: the answer would make a lease that nobody gives
    // back. It is also kept while the host could not hear of its return, because the next request would
    // have to wait for the host.
    const isKept = state.asked || state.link !== HostConnection.Up
    const dueAtMs = (isKept ? context.nowMs : lastMs) + lease.returnAfterMs
    if (dueAtMs > context.nowMs) return { ...state, dueAtMs }
    return giveBack(state, lastMs, context)
  },

  calm(state, { lastMs, busy = false }, context) {
    if (state.phase === GatewayLeasePhase.Resting) return restNow(state, { busy, lastMs }, context)
    if (state.phase !== GatewayLeasePhase.Busy) return state
    return watched({ ...state, phase: GatewayLeasePhase.Open }, lastMs)
  },

  empty(state, _event, context) {
    const drained = sayDrained(state, context)
    if (state.phase === GatewayLeasePhase.Ending)
      return giveBack({ ...drained, memoryBoot: 0 }, context.nowMs, context)
    if (state.phase === GatewayLeasePhase.Resting)
      return restNow({ ...drained, memoryBoot: 0 }, { busy: false, lastMs: context.nowMs }, context)
    return state.phase === GatewayLeasePhase.Closed ? { ...drained, memoryBoot: 0 } : drained
  },

  opened(state, { boot, memoryBoot, epoch, returnAfterMs }, { nowMs, effects }) {
    if (!state.asked || epoch !== state.epoch) {
      // The `open` was given up while the host was silent or away. The host holds the lease until it hears
      // otherwise.
      if (!state.asked && state.lease === undefined) effects.push({ kind: 'idle', epoch, quietMs: 0 })
      return state
    }
    const lease = { boot, memoryBoot, epoch, ...(returnAfterMs === undefined ? {} : { returnAfterMs }) }
    if (state.memoryBoot !== 0 && state.memoryBoot !== memoryBoot)
      effects.push({ kind: 'end-other-memory', memoryBoot })
    if (state.boot !== 0 && state.boot !== boot) effects.push({ kind: 'forget', boot: state.boot })
    const { refusal: _mended, patient: _over, ...rest } = state
    effects.push({ kind: 'admit' })
    const open = {
      ...rest,
      phase: GatewayLeasePhase.Open,
      asked: false,
      wanted: false,
      draining: 0,
      lease,
      memoryBoot,
      boot,
    }
    return watched(open, nowMs)
  },

  settings(state, { boot, returnAfterMs, lastMs }) {
    if (state.lease?.boot !== boot) return state
    const { returnAfterMs: _before, ...lease } = state.lease
    const kept = { ...state, lease: { ...lease, ...(returnAfterMs === undefined ? {} : { returnAfterMs }) } }
    return state.phase === GatewayLeasePhase.Open ? watched(kept, lastMs) : kept
  },

  refused(state, { epoch, reason, failure, message, retryAfterMs }, { nowMs, effects }) {
    if (!state.asked || epoch !== state.epoch) return state
    const refusal: LeaseRefusal = {
      reason,
      message,
      untilMs: nowMs + retryAfterMs,
      ...(failure === undefined ? {} : { failure }),
    }
    effects.push({ kind: 'fail', refusal })
    if (state.lease !== undefined) effects.push({ kind: 'forget', boot: state.lease.boot })
    const { patient: _over, ...rest } = state
    return closed({ ...rest, asked: false, wanted: false, refusal })
  },

  drain(state, { boot, connected }, context) {
    if (boot < state.boot) return state
    const draining = { ...waitForNothing(state, context), draining: boot }
    if (!connected) return dropEmpty(sayDrained(draining, context), context)
    return ending(draining)
  },

  rest(state, { boot, withinMs, requests, busy, lastMs }, context) {
    const { lease, phase } = state
    if (lease === undefined || boot < state.boot || phase === GatewayLeasePhase.Ending) return state
    if (!requests) return restNow(state, { busy, lastMs }, context)
    return { ...state, phase: GatewayLeasePhase.Resting, dueAtMs: context.nowMs + withinMs }
  },

  undrain(state, { boot }, { nowMs, effects }) {
    const isHeldUp = state.phase === GatewayLeasePhase.Ending || state.phase === GatewayLeasePhase.Resting
    if (boot !== state.draining && !isHeldUp) return state
    if (boot < state.boot) return state
    const undrained = { ...state, draining: 0 }
    if (!isHeldUp) return undrained
    effects.push({ kind: 'admit' })
    return watched({ ...undrained, phase: GatewayLeasePhase.Open, wanted: false }, nowMs)
  },

  close(state, { boot, connected }, context) {
    if (boot < state.boot) return state
    context.effects.push({ kind: 'end', boot, why: 'close' }, { kind: 'forget', boot })
    const closing = waitForNothing(state, context)
    return connected ? ending(closing) : dropEmpty(sayDrained(closing, context), context)
  },

  gone(state, { boot }, context) {
    if (boot < state.boot) return state
    context.effects.push({ kind: 'end', boot, why: 'gone' }, { kind: 'forget', boot })
    const over = { ...state, draining: 0, memoryBoot: 0, boot }
    if (state.lease === undefined) return over
    const isWanted = state.phase === GatewayLeasePhase.Resting && state.wanted && !state.asked
    const ended = state.asked ? asking(over) : closed(over)
    return isWanted ? ask(ended, context) : ended
  },

  'link-lost': (state) =>
    state.link === HostConnection.Up ? { ...state, link: HostConnection.Lost } : state,

  'link-silent'(state) {
    const silent = { ...state, link: HostConnection.Silent }
    return isOpen(state) ? withoutDue({ ...silent, phase: GatewayLeasePhase.Unsure }) : silent
  },

  'link-down': (state, _event, context) => waitNoMore(state, HostConnection.Down, context),

  'link-away'(state, _event, context) {
    const silent = moves['link-silent'](state, { kind: 'link-silent' }, context)
    return waitNoMore(silent, HostConnection.Away, context)
  },

  'link-unreachable'(state, _event, context) {
    const { boot } = state
    context.effects.push({ kind: 'end', boot, why: 'lost' }, { kind: 'forget', boot })
    const away = moves['link-away'](state, { kind: 'link-away' }, context)
    return closed({ ...away, draining: 0, memoryBoot: 0 })
  },

  'link-back'(state, _event, context) {
    const back = { ...state, link: HostConnection.Up }
    const asks = state.wanted || state.patient === true || state.phase === GatewayLeasePhase.Unsure
    if (asks) return ask({ ...back, asked: false }, context)
    return state.phase === GatewayLeasePhase.Asking
      ? closed({ ...back, asked: false })
      : { ...back, asked: false }
  },

  moved(state, { link }, context) {
    const { refusal: _old, ...rest } = state
    const isWanted = state.asked || state.wanted
    const here = closed({ ...rest, link, draining: 0 })
    if (link === HostConnection.Away || link === HostConnection.Down) return waitNoMore(here, link, context)
    return isWanted ? ask({ ...here, asked: false }, context) : { ...here, asked: false }
  },

  news(state) {
    const { refusal: _old, ...rest } = state
    return rest
  },
}

/** Asks the host for a lease. If the host can not be reached now, `link-back` asks again. */
function ask(state: GatewayLeaseState, { effects }: Context): GatewayLeaseState {
  const epoch = state.epoch + 1
  const { patient } = state
  if (state.link === HostConnection.Up)
    effects.push({ kind: 'open', epoch, ...(patient === undefined ? {} : { patient }) })
  const phase = state.lease === undefined ? GatewayLeasePhase.Asking : state.phase
  return { ...state, phase, epoch, asked: true }
}

function giveBack(state: GatewayLeaseState, lastMs: number, context: Context): GatewayLeaseState {
  const { nowMs, effects } = context
  const { lease } = state
  if (lease === undefined) return state
  effects.push(
    { kind: 'forget', boot: lease.boot },
    { kind: 'idle', epoch: lease.epoch, quietMs: Math.max(0, nowMs - lastMs) },
  )
  return state.asked ? asking(state) : closed(state)
}

/** Gives the lease back, so that the instance can sleep, and asks for what waits for its wake. */
function restNow(
  state: GatewayLeaseState,
  { busy, lastMs }: { readonly busy: boolean; readonly lastMs: number },
  context: Context,
): GatewayLeaseState {
  const given = giveBack(state, lastMs, context)
  if (state.asked) return given
  if (state.wanted) return ask(given, context)
  return busy ? ask({ ...given, patient: true }, context) : given
}

/** The instance that was to sleep shuts down instead: what waits for it has to try elsewhere. */
function waitForNothing(state: GatewayLeaseState, { nowMs, effects }: Context): GatewayLeaseState {
  if (state.phase !== GatewayLeasePhase.Resting || !state.wanted || state.asked) return state
  effects.push({ kind: 'fail', refusal: shuttingDown(nowMs) })
  return { ...state, wanted: false }
}

/** Gives the lease back: nothing is connected, so there is nothing to wait for. */
function dropEmpty(state: GatewayLeaseState, context: Context): GatewayLeaseState {
  return state.lease === undefined ? state : giveBack(state, context.nowMs, context)
}

function sayDrained(state: GatewayLeaseState, { effects }: Context): GatewayLeaseState {
  if (state.draining === 0) return state
  effects.push({ kind: 'drained', boot: state.draining })
  return { ...state, draining: 0 }
}

function waitNoMore(
  state: GatewayLeaseState,
  link: typeof HostConnection.Down | typeof HostConnection.Away,
  { nowMs, effects }: Context,
): GatewayLeaseState {
  if (state.asked || state.wanted) effects.push({ kind: 'fail', refusal: hostAway(nowMs) })
  const told = { ...state, link, wanted: false, asked: false }
  return told.phase === GatewayLeasePhase.Asking ? closed(told) : told
}

function ending(state: GatewayLeaseState): GatewayLeaseState {
  return state.lease === undefined ? state : withoutDue({ ...state, phase: GatewayLeasePhase.Ending })
}

function closed(state: GatewayLeaseState): GatewayLeaseState {
  const { lease: _over, ...rest } = withoutDue(state)
  return { ...rest, phase: GatewayLeasePhase.Closed }
}

function asking(state: GatewayLeaseState): GatewayLeaseState {
  return { ...closed(state), phase: GatewayLeasePhase.Asking }
}

function withoutDue(state: GatewayLeaseState): GatewayLeaseState {
  const { dueAtMs: _never, ...rest } = state
  return rest
}

function watched(state: GatewayLeaseState, lastMs: number): GatewayLeaseState {
  const returnAfterMs = state.lease?.returnAfterMs
  return returnAfterMs === undefined ? withoutDue(state) : { ...state, dueAtMs: lastMs + returnAfterMs }
}

function hostAway(nowMs: number): LeaseRefusal {
  return { reason: 'host-away', message: 'Its host does not answer.', untilMs: nowMs + hostAwayRetryMs }
}

function endingRefusal(state: GatewayLeaseState, nowMs: number): LeaseRefusal | undefined {
  return state.phase === GatewayLeasePhase.Ending ? shuttingDown(nowMs) : undefined
}

function shuttingDown(nowMs: number): LeaseRefusal {
  return { reason: 'draining', message: 'The instance is shutting down.', untilMs: nowMs }
}
