import { wakeBackOffMs } from './wake-back-off.ts'
import { askForLeases, tellAll, voidLeases } from './host-lease-gateways.ts'
import type { Context, Moves } from './host-lease-move.ts'
import { leaseTerms, refuseWith } from './host-lease-settlement.ts'
import { LeasePhase } from './host-lease-phase.ts'
import { noHostLease } from './host-lease-state.ts'
import type { HostLeaseState, StandByOrder } from './host-lease-state.ts'
import { leaseKeptMs, programLeasePrefix } from './lease-protocol.ts'
import { StandByRefusal } from '../instance/host-work.ts'
import type { HostFailure } from '../instance/host-work.ts'
import { StartKind } from '../instance/start-report.ts'

/** How long after its start an application counts as busy if it does not listen yet. */
export const firstQuietMs = 10_000
/**
 * How long an instance that a peer's packet woke stays up at least. The packet itself is lost, so the
 * instance waits for its repeat: TCP repeats a first packet after 1 s, and after 2 s and 4 s more if an
 * earlier repeat was lost too, as can happen while the instance goes to sleep.
 */
export const peerPatienceMs = 5_000
/** What is left of the grace of a shutdown when somebody waits for the next boot. */
export const hurriedGraceMs = 1_000

const comingUp: ReadonlySet<LeasePhase> = new Set([LeasePhase.Starting, LeasePhase.Waking])
/** The phases of an instance that sleeps and may be started by its permit alone. */
const sleeping: ReadonlySet<LeasePhase> = new Set([LeasePhase.Asleep, LeasePhase.Held])
/** The phases in which there is a permit. */
const permitted: ReadonlySet<LeasePhase> = new Set([...sleeping, LeasePhase.Waking])
const up: ReadonlySet<LeasePhase> = new Set([LeasePhase.Running, LeasePhase.Draining])
/**
 * Phases in which the network may report a peer: the watch begins before the sleep does, and again before a
 * wake has failed.
 */
const watched: ReadonlySet<LeasePhase> = new Set([
  LeasePhase.StandingBy,
  LeasePhase.Asleep,
  LeasePhase.Held,
  LeasePhase.Waking,
])

/** Resets the fields that belong to one boot or one sleep. */
const nothingUnderWay = {
  order: undefined,
  restUntilMs: undefined,
  hurried: false,
  drainAnswered: false,
  disabled: false,
  touched: false,
} as const

export const vmMoves: Moves<
  | 'disabled'
  | 'peers'
  | 'peer-packets'
  | 'stand-by'
  | 'drain'
  | 'drain-cancelled'
  | 'stop'
  | 'remove'
  | 'hold'
  | 'release'
  | 'moved'
  | 'start'
  | 'started'
  | 'settings'
  | 'start-failed'
  | 'listened'
  | 'slept'
  | 'stayed-awake'
  | 'exited'
  | 'stopped'
  | 'tick'
> = {
  disabled(state, { boot, disabled }, { nowMs, effects }) {
    if (boot !== state.boot || disabled === state.disabled) return state
    if (!up.has(state.phase) && state.phase !== LeasePhase.StandingBy) return state
    effects.push({ kind: 'tell-disabled', boot, disabled })
    return { ...state, disabled, quietFromMs: Math.max(state.quietFromMs, nowMs) }
  },

  peers: (state) => (watched.has(state.phase) ? { ...state, peersWait: true } : state),

  'peer-packets': (state, { epoch, count }) =>
    state.idle?.epoch === epoch ? { ...state, idle: { ...state.idle, peerPackets: count } } : state,

  'stand-by'(state, { kind: _kind, peerPackets, ...order }, context) {
    if (isRepeat(state, order)) return state
    const refused = refusalOf(state, { order, peerPackets }, context.nowMs)
    if (isDone(state, order)) return answerStandBy(state, order, context)
    if (refused !== undefined) {
      const quiet = refused === 'peers' ? { quietFromMs: context.nowMs, idle: undefined } : {}
      const reason = refused === 'peers' ? StandByRefusal.Busy : refused
      return { ...answerStandBy(state, order, context, reason), ...quiet }
    }
    const standingBy = { ...state, phase: LeasePhase.StandingBy, order, hurried: false }
    const { drainMs } = order
    if (drainMs === undefined) {
      context.effects.push({ kind: 'sleep', order })
      return standingBy
    }
    // `settle` begins the sleep once no gateway holds a lease.
    const resting = { ...standingBy, restUntilMs: context.nowMs + drainMs + leaseKeptMs }
    askForLeases(resting, context)
    return resting
  },

  drain(state, { boot }, context) {
    if (boot !== state.boot || !up.has(state.phase)) {
      context.effects.push({ kind: 'answer-drain', boot })
      return state
    }
    if (state.phase === LeasePhase.Running) tellAll(state, 'drain', context)
    const leases =
      state.phase === LeasePhase.Draining
        ? state.leases
        : state.leases.map((each) => ({ ...each, drained: false }))
    return { ...state, leases, phase: LeasePhase.Draining, drainAnswered: false }
  },

  'drain-cancelled'(state, { boot }, context) {
    if (boot !== state.boot || state.phase !== LeasePhase.Draining) return state
    tellAll(state, 'undrain', context)
    const quietFromMs = Math.max(state.quietFromMs, context.nowMs)
    return { ...state, phase: LeasePhase.Running, quietFromMs, drainAnswered: false }
  },

  stop(state, { boot }, context) {
    const least = permitted.has(state.phase) ? state.permit : state.boot
    if (state.phase === LeasePhase.None || state.phase === LeasePhase.Stopping || (least ?? 0) > boot)
      return state
    if (state.phase === LeasePhase.Draining && !state.drainAnswered) {
      context.effects.push({ kind: 'answer-drain', boot: state.boot })
    }
    tellAll(state, 'close', context)
    return { ...state, phase: LeasePhase.Stopping, restUntilMs: undefined }
  },

  remove(state, _event, context) {
    const refuse = refuseWith({ reason: 'unknown', message: 'The instance was deleted.' })
    return finish(refuse(state, context), context)
  },

  hold: (state) => (state.phase === LeasePhase.Asleep ? { ...state, phase: LeasePhase.Held } : state),

  // `settle` wakes the instance if anybody waits.
  release: (state) => (state.phase === LeasePhase.Held ? { ...state, phase: LeasePhase.Asleep } : state),

  moved(state, _event, context) {
    if (sleeping.has(state.phase)) return { ...noHostLease, boot: state.boot, lastEpoch: state.lastEpoch }
    return state.phase === LeasePhase.None ? state : finish(state, context)
  },

  start(state, { boot }, context) {
    if (sleeping.has(state.phase) && boot === state.permit) return { ...state, phase: LeasePhase.Waking }
    // A boot that failed to come up may be tried again.
    const isNew = boot > state.boot || (boot === state.boot && state.phase === LeasePhase.None)
    if (!isNew || (state.phase === LeasePhase.Waking && boot === state.permit)) return state
    if (state.order !== undefined) answerStandBy(state, state.order, context, StandByRefusal.NotRunning)
    return { ...endOf(voidLeases(state, context)), phase: LeasePhase.Starting, boot }
  },

  started(state, { boot, start, settings, listens }, context) {
    const expected = state.phase === LeasePhase.Waking ? state.permit : state.boot
    if (boot !== expected || !(comingUp.has(state.phase) || state.phase === LeasePhase.Stopping)) return state
    const goesOn = start === StartKind.Restore
    const kept = goesOn ? state : voidLeases(state, context)
    const { permit: _used, wakeFailure: _mended, peersWait, peersWoke, ...rest } = kept
    const isForPeers = peersWait === true || peersWoke === true
    const quietMs = goesOn || listens ? 0 : firstQuietMs
    return {
      ...rest,
      ...nothingUnderWay,
      phase: state.phase === LeasePhase.Stopping ? LeasePhase.Stopping : LeasePhase.Running,
      boot,
      memoryBoot: goesOn && state.memoryBoot !== 0 ? state.memoryBoot : boot,
      settings,
      kind: start,
      quietFromMs: context.nowMs + (isForPeers ? Math.max(quietMs, peerPatienceMs) : quietMs),
      touched: isForPeers,
    }
  },

  settings(state, { settings }, { effects }) {
    for (const { gateway, status, boot } of state.leases) {
      if (status === 'held') effects.push({ kind: 'tell-settings', gateway, boot, ...leaseTerms(settings) })
    }
    // The idle period begins anew, since the same moment as before, with the new cooldown.
    return { ...state, settings, idle: undefined }
  },

  'start-failed'(state, { boot, failure, message }, context) {
    if (state.phase === LeasePhase.Waking && boot === state.permit)
      return wakeFailed(state, { failure, message }, context)
    if (state.phase !== LeasePhase.Starting || boot !== state.boot) return state
    const refused = refuseWith({ reason: 'failed', failure, message })(voidLeases(state, context), context)
    return endOf(refused)
  },

  listened(state, { boot }, { nowMs }) {
    if (boot !== state.boot || state.phase !== LeasePhase.Running || state.touched) return state
    return { ...state, quietFromMs: Math.min(state.quietFromMs, nowMs) }
  },

  slept(state, { boot, memoryKept }, context) {
    const { order } = state
    if (order === undefined || boot !== order.boot) return state
    answerStandBy(state, order, context)
    const kept = memoryKept ? returnAll(state) : voidLeases(state, context)
    const asleep = { ...kept, ...nothingUnderWay, slept: { boot, permit: order.permit } }
    if (state.phase !== LeasePhase.StandingBy) return asleep
    // If only a permit is left, boots may have been stopped before any of them ran here.
    const phase = order.hold === undefined ? LeasePhase.Asleep : LeasePhase.Held
    return { ...asleep, phase, boot: Math.max(state.boot, boot), permit: order.permit }
  },

  'stayed-awake': staysAwake,

  exited(state, { boot }, context) {
    const expected = state.phase === LeasePhase.Waking ? state.permit : state.boot
    if (sleeping.has(state.phase) || boot !== expected) return state
    return finish({ ...state, boot }, context)
  },

  stopped(state, { boot }, context) {
    const least = permitted.has(state.phase) ? (state.permit ?? 0) : state.boot
    return least > boot ? state : finish({ ...state, boot: Math.max(state.boot, boot) }, context)
  },

  tick(state, _event, context) {
    const { order, restUntilMs } = state
    if (order === undefined || restUntilMs === undefined || restUntilMs > context.nowMs) return state
    return staysAwake(state, { boot: order.boot, reason: StandByRefusal.Busy }, context)
  },
}

/** The order is not carried out: traffic goes on as before. */
function staysAwake(
  state: HostLeaseState,
  { boot, reason }: { readonly boot: number; readonly reason: StandByRefusal },
  context: Context,
): HostLeaseState {
  const { order } = state
  if (order === undefined || boot !== order.boot) return state
  answerStandBy(state, order, context, reason)
  const { peersWait: _reached, ...rest } = state
  const over = { order: undefined, restUntilMs: undefined, hurried: false }
  const awake = { ...rest, ...over, quietFromMs: context.nowMs }
  if (state.phase !== LeasePhase.StandingBy) return awake
  if (order.drainMs !== undefined) tellAll(state, 'undrain', context)
  const leases = state.leases.map((lease) => ({ ...lease, waited: false }))
  const ranBefore = state.boot !== 0 && boot !== 0
  return ranBefore ? { ...awake, leases, phase: LeasePhase.Running } : { ...awake, phase: LeasePhase.None }
}

function isRepeat({ phase, order }: HostLeaseState, asked: StandByOrder): boolean {
  return phase === LeasePhase.StandingBy && order?.boot === asked.boot && order.permit === asked.permit
}

function isDone({ slept }: HostLeaseState, asked: StandByOrder): boolean {
  return slept?.boot === asked.boot && slept.permit === asked.permit
}

function refusalOf(
  state: HostLeaseState,
  { order, peerPackets }: { readonly order: StandByOrder; readonly peerPackets: number | undefined },
  nowMs: number,
): StandByRefusal | 'peers' | undefined {
  if (order.boot === 0 || isLeftAnew(state, order)) {
    return state.phase === LeasePhase.None && state.boot < order.permit
      ? undefined
      : StandByRefusal.NotRunning
  }
  if (state.phase !== LeasePhase.Running || order.boot !== state.boot) return StandByRefusal.NotRunning
  if (order.drainMs !== undefined) return refusalOfUser(state)
  if (state.unsureUntilMs > nowMs) return StandByRefusal.Unsure
  if (state.disabled) return StandByRefusal.Disabled
  return state.idle?.epoch === order.epoch ? peersRefusal(state, peerPackets) : StandByRefusal.Busy
}

/** What speaks against standby that a user asked for. */
function refusalOfUser({ disabled, leases }: HostLeaseState): StandByRefusal | undefined {
  if (disabled) return StandByRefusal.Disabled
  const isProgram = leases.some(
    ({ status, gateway }) => status === 'held' && gateway.startsWith(programLeasePrefix),
  )
  return isProgram ? StandByRefusal.Programs : undefined
}

/**
 * The instance slept here, or is thought to, but this host knows nothing of it: only its permit is left here.
 */
function isLeftAnew({ phase, boot }: HostLeaseState, { epoch }: StandByOrder): boolean {
  return epoch === 0 && phase === LeasePhase.None && boot === 0
}

/**
 * Returns the refusal if peers sent packets since the idle period began. Peers have no lease, so only the
 * count of their packets shows whether they were there.
 */
function peersRefusal({ idle }: HostLeaseState, count: number | undefined): 'peers' | undefined {
  const before = idle?.peerPackets
  return before !== undefined && count !== undefined && count > before ? 'peers' : undefined
}

function answerStandBy(
  state: HostLeaseState,
  { boot, permit }: StandByOrder,
  { effects }: Context,
  refused?: StandByRefusal,
): HostLeaseState {
  effects.push({ kind: 'answer-stand-by', boot, permit, ...(refused === undefined ? {} : { refused }) })
  return state
}

/** Memory and connections are kept; only the right to send is over. */
function returnAll(state: HostLeaseState): HostLeaseState {
  const leases = state.leases.map((lease) =>
    lease.status === 'held' ? ({ ...lease, status: 'returned' } as const) : lease,
  )
  return { ...state, leases }
}

function wakeFailed(
  state: HostLeaseState,
  why: { readonly failure: HostFailure; readonly message: string },
  { nowMs, effects }: Context,
): HostLeaseState {
  const count = (state.wakeFailure?.count ?? 0) + 1
  const wakeFailure = { ...why, count, retryAtMs: nowMs + wakeBackOffMs(count) }
  effects.push({ kind: 'tell-wake-failed', boot: state.permit ?? 0, ...wakeFailure })
  // The packet that began this wake has used its one try. A packet that came meanwhile gets the next.
  const { peersWoke: _tried, ...rest } = state
  return { ...rest, phase: LeasePhase.Asleep, wakeFailure }
}

function finish(state: HostLeaseState, context: Context): HostLeaseState {
  const { order } = state
  if (state.phase === LeasePhase.Draining && !state.drainAnswered) {
    context.effects.push({ kind: 'answer-drain', boot: state.boot })
  }
  if (order !== undefined) answerStandBy(state, order, context, StandByRefusal.NotRunning)
  return endOf(voidLeases(state, context))
}

function endOf(state: HostLeaseState): HostLeaseState {
  const { permit: _gone, wakeFailure: _past, idle: _over, ...kept } = state
  const { peersWait: _unmet, peersWoke: _met, ...rest } = kept
  return { ...rest, ...nothingUnderWay, phase: LeasePhase.None, memoryBoot: 0 }
}
