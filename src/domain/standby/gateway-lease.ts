import { GateLink, GatePhase, hostAwayRetryMs } from './gateway-lease-state.ts'
import type { GateEffect, GateEvent, GateRefusal, GateState, GateStep } from './gateway-lease-state.ts'

/**
 * The gateway's side of one instance's lease (`traffic-protocol.ts`). The host decides; this keeps to what it said.
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
 * Answers to an older `open` than the newest are ignored, and so are words on a boot older than the lease's. An answer
 * that nobody waits for any more opens the gate all the same: the host counts the lease until it is given back. One to an `open` that was
 * given up with a silent host is given back at once.
 */
export function decide(state: GateState, event: GateEvent, nowMs: number): GateStep {
  const effects: GateEffect[] = []
  const next = moves[event.kind](state, event as never, { nowMs, effects })
  return { state: next, effects }
}

/** New traffic may be sent. */
export function isOpen({ phase }: GateState): boolean {
  return phase === GatePhase.Open || phase === GatePhase.Busy
}

/** An answer will come that lets whoever waits for it in, or tells why not. */
export function isAsking(state: GateState): boolean {
  return state.asked && !isOpen(state)
}

/** What asking would be answered with, as far as is known. */
export function knownRefusal(state: GateState, nowMs: number): GateRefusal | undefined {
  if (state.link === GateLink.Away || state.link === GateLink.Down) return hostAway(nowMs)
  const { refusal } = state
  return refusal !== undefined && refusal.untilMs > nowMs ? refusal : undefined
}

/** For `hello`. */
export function heldLease(state: GateState): { readonly boot: number; readonly epoch: number } | undefined {
  return state.lease === undefined ? undefined : { boot: state.lease.boot, epoch: state.lease.epoch }
}

interface Context {
  readonly nowMs: number
  readonly effects: GateEffect[]
}

type Move<K extends GateEvent['kind']> = (
  state: GateState,
  event: Extract<GateEvent, { kind: K }>,
  context: Context,
) => GateState

const moves: { readonly [K in GateEvent['kind']]: Move<K> } = {
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
    const wanted = { ...state, wanted: true }
    return state.asked ? wanted : ask(wanted, context)
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
    if (state.phase !== GatePhase.Open || lease?.returnAfterMs === undefined) return state
    if (busy) return withoutDue({ ...state, phase: GatePhase.Busy })
    // The answer to a second `open` under way would make a lease of it that nobody gives back.
    // Nor would one be given back that the host does not hear of, and who comes next would have to wait for the host.
    const isKept = state.asked || state.link !== GateLink.Up
    const dueAtMs = (isKept ? context.nowMs : lastMs) + lease.returnAfterMs
    if (dueAtMs > context.nowMs) return { ...state, dueAtMs }
    return giveBack(state, lastMs, context)
  },

  calm(state, { lastMs }) {
    if (state.phase !== GatePhase.Busy) return state
    return watched({ ...state, phase: GatePhase.Open }, lastMs)
  },

  empty(state, _event, context) {
    const drained = sayDrained(state, context)
    if (state.phase === GatePhase.Ending) return giveBack({ ...drained, memory: 0 }, context.nowMs, context)
    return state.phase === GatePhase.Closed ? { ...drained, memory: 0 } : drained
  },

  opened(state, { boot, memory, epoch, returnAfterMs }, { nowMs, effects }) {
    if (!state.asked || epoch !== state.epoch) {
      // Given up while the host was silent or away, and held there until it hears otherwise.
      if (!state.asked && state.lease === undefined) effects.push({ kind: 'idle', epoch, quietMs: 0 })
      return state
    }
    const lease = { boot, memory, epoch, ...(returnAfterMs === undefined ? {} : { returnAfterMs }) }
    if (state.memory !== 0 && state.memory !== memory) effects.push({ kind: 'end-other-memory', memory })
    if (state.boot !== 0 && state.boot !== boot) effects.push({ kind: 'forget', boot: state.boot })
    const { refusal: _mended, ...rest } = state
    effects.push({ kind: 'admit' })
    const open = {
      ...rest,
      phase: GatePhase.Open,
      asked: false,
      wanted: false,
      draining: 0,
      lease,
      memory,
      boot,
    }
    return watched(open, nowMs)
  },

  refused(state, { epoch, reason, failure, message, retryAfterMs }, { nowMs, effects }) {
    if (!state.asked || epoch !== state.epoch) return state
    const refusal: GateRefusal = {
      reason,
      message,
      untilMs: nowMs + retryAfterMs,
      ...(failure === undefined ? {} : { failure }),
    }
    effects.push({ kind: 'fail', refusal })
    if (state.lease !== undefined) effects.push({ kind: 'forget', boot: state.lease.boot })
    return closed({ ...state, asked: false, wanted: false, refusal })
  },

  drain(state, { boot, connected }, context) {
    if (boot < state.boot) return state
    const draining = { ...state, draining: boot }
    if (!connected) return dropEmpty(sayDrained(draining, context), context)
    return ending(draining)
  },

  undrain(state, { boot }, { nowMs, effects }) {
    if (boot !== state.draining && state.phase !== GatePhase.Ending) return state
    if (boot < state.boot) return state
    const undrained = { ...state, draining: 0 }
    if (state.phase !== GatePhase.Ending) return undrained
    effects.push({ kind: 'admit' })
    return watched({ ...undrained, phase: GatePhase.Open }, nowMs)
  },

  close(state, { boot, connected }, context) {
    if (boot < state.boot) return state
    context.effects.push({ kind: 'end', boot, why: 'close' }, { kind: 'forget', boot })
    return connected ? ending(state) : dropEmpty(sayDrained(state, context), context)
  },

  gone(state, { boot }, { effects }) {
    if (boot < state.boot) return state
    effects.push({ kind: 'end', boot, why: 'gone' }, { kind: 'forget', boot })
    const over = { ...state, draining: 0, memory: 0, boot }
    if (state.lease === undefined) return over
    return state.asked ? asking(over) : closed(over)
  },

  'link-lost': (state) => (state.link === GateLink.Up ? { ...state, link: GateLink.Lost } : state),

  'link-silent'(state) {
    const silent = { ...state, link: GateLink.Silent }
    return isOpen(state) ? withoutDue({ ...silent, phase: GatePhase.Unsure }) : silent
  },

  'link-down': (state, _event, context) => waitNoMore(state, GateLink.Down, context),

  'link-away'(state, _event, context) {
    const silent = moves['link-silent'](state, { kind: 'link-silent' }, context)
    return waitNoMore(silent, GateLink.Away, context)
  },

  'link-unreachable'(state, _event, context) {
    const { boot } = state
    context.effects.push({ kind: 'end', boot, why: 'lost' }, { kind: 'forget', boot })
    const away = moves['link-away'](state, { kind: 'link-away' }, context)
    return closed({ ...away, draining: 0, memory: 0 })
  },

  'link-back'(state, _event, context) {
    const back = { ...state, link: GateLink.Up }
    const asks = state.wanted || state.phase === GatePhase.Unsure
    if (asks) return ask({ ...back, asked: false }, context)
    return state.phase === GatePhase.Asking ? closed({ ...back, asked: false }) : { ...back, asked: false }
  },

  news(state) {
    const { refusal: _old, ...rest } = state
    return rest
  },
}

/** The host is asked again by `link-back` where it can not be reached now. */
function ask(state: GateState, { effects }: Context): GateState {
  const epoch = state.epoch + 1
  if (state.link === GateLink.Up) effects.push({ kind: 'open', epoch })
  const phase = state.lease === undefined ? GatePhase.Asking : state.phase
  return { ...state, phase, epoch, asked: true }
}

function giveBack(state: GateState, lastMs: number, { nowMs, effects }: Context): GateState {
  const { lease } = state
  if (lease === undefined) return state
  effects.push(
    { kind: 'forget', boot: lease.boot },
    { kind: 'idle', epoch: lease.epoch, quietMs: Math.max(0, nowMs - lastMs) },
  )
  return state.asked ? asking(state) : closed(state)
}

/** Nothing is connected, so nothing is left to wait for. */
function dropEmpty(state: GateState, context: Context): GateState {
  return state.lease === undefined ? state : giveBack(state, context.nowMs, context)
}

function sayDrained(state: GateState, { effects }: Context): GateState {
  if (state.draining === 0) return state
  effects.push({ kind: 'drained', boot: state.draining })
  return { ...state, draining: 0 }
}

function waitNoMore(
  state: GateState,
  link: typeof GateLink.Down | typeof GateLink.Away,
  { nowMs, effects }: Context,
): GateState {
  if (state.asked || state.wanted) effects.push({ kind: 'fail', refusal: hostAway(nowMs) })
  const told = { ...state, link, wanted: false, asked: false }
  return told.phase === GatePhase.Asking ? closed(told) : told
}

function ending(state: GateState): GateState {
  return state.lease === undefined ? state : withoutDue({ ...state, phase: GatePhase.Ending })
}

function closed(state: GateState): GateState {
  const { lease: _over, ...rest } = withoutDue(state)
  return { ...rest, phase: GatePhase.Closed }
}

function asking(state: GateState): GateState {
  return { ...closed(state), phase: GatePhase.Asking }
}

function withoutDue(state: GateState): GateState {
  const { dueAtMs: _never, ...rest } = state
  return rest
}

function watched(state: GateState, lastMs: number): GateState {
  const returnAfterMs = state.lease?.returnAfterMs
  return returnAfterMs === undefined ? withoutDue(state) : { ...state, dueAtMs: lastMs + returnAfterMs }
}

function hostAway(nowMs: number): GateRefusal {
  return { reason: 'host-away', message: 'Its host does not answer.', untilMs: nowMs + hostAwayRetryMs }
}

function endingRefusal(state: GateState, nowMs: number): GateRefusal | undefined {
  if (state.phase !== GatePhase.Ending) return undefined
  return { reason: 'draining', message: 'The instance is shutting down.', untilMs: nowMs }
}
