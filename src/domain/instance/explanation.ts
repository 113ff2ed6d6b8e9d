import { LeasePhase } from '../standby/host-lease-phase.ts'
import { InstanceState } from './state.ts'
import { lostMemory } from './lifecycle-standby.ts'
import { mayStandBy } from '../standby/scale-to-zero.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'
import type { HostLeaseView } from '../standby/lease-protocol.ts'
import {
  itWasShutDown,
  memoryIsKept,
  quietFor,
  seconds,
  somethingAsked,
  startsAgainAt,
  timeOf,
  userSaidSo,
} from './words.ts'

/** An explanation for people: why an instance is awake or asleep, and what comes next. */
export interface Explanation {
  /** One sentence that begins with the instance's name. */
  readonly now: string
  /** What comes next by itself, with its time if that is known. */
  readonly next: string
  /** What went wrong last, if it still matters. */
  readonly failure?: string
}

/** What the database holds of the instance. Times are milliseconds since the epoch. */
export interface ExplainedInstance {
  readonly name: string
  readonly nodeId: string
  readonly state: InstanceState
  readonly boot: number
  readonly scaleToZero: ScaleToZero
  readonly startedAtMs?: number
  readonly stoppedAtMs?: number
  readonly restartAtMs?: number
  readonly stopReason?: number
  readonly exitCode?: number
  readonly snapshotUuid?: string
  readonly failure?: string
  /** Present if a user asked for the present standby, or for one that has not come yet. */
  readonly suspended?: true
  /** The latest time at which the drain under way ends. */
  readonly drainUntilMs?: number
  /** The changed properties that the boot that runs, or the kept memory, does not have. */
  readonly waiting?: readonly string[]
  /** Present if autoscale or a rollout gives the instance back. */
  readonly isRetired?: true
  /** Present if a rollout keeps the instance as the way back. */
  readonly isWayBack?: true
  /** When its host was last heard, if that is so long ago that the host counts as silent. */
  readonly hostSilentSinceMs?: number
  /** When its host was declared lost. Absent: it is not lost. */
  readonly hostLostSinceMs?: number
  /** The new host of a move for which it is held: it starts when the move is over. */
  readonly movesTo?: string
  /** Present if its volume keeps it on its host. */
  readonly hasVolume?: true
}

/**
 * Explains an instance. The host knows first whether the instance sleeps, so its answer counts before the
 * row, which follows a moment later. `hostLease` is undefined if the host does not answer or does not know
 * the instance.
 */
export function explain(
  instance: ExplainedInstance,
  hostLease: HostLeaseView | undefined,
  nowMs: number,
): Explanation {
  const told: Explanation | undefined =
    hostLease === undefined
      ? startsAfterMove(instance)
      : (startsAfterMove(instance) ??
        whyStalled(instance, hostLease) ??
        wordOf(hostLease.phase)?.(instance, hostLease, nowMs))
  const { now, next, failure }: Explanation =
    told ?? onSilentHost(instance, byRecord[instance.state](instance, hostLease))
  return {
    now: `${instance.name} ${now}${lacks(instance)}.`,
    next: instance.isRetired === true ? goesFor(instance) : instance.isWayBack === true ? wayBack : next,
    ...(failure === undefined ? {} : { failure }),
  }
}

function startsAfterMove({ state, movesTo }: ExplainedInstance): Explanation | undefined {
  if (movesTo === undefined || state !== InstanceState.Starting) return undefined
  return {
    now: `is moving to host ${movesTo}`,
    next: 'it starts when the move is over, with the memory that it has; whatever comes meanwhile waits',
  }
}

function lacks({ waiting = [] }: ExplainedInstance): string {
  return waiting.length === 0 ? '' : `; it lacks a change of ${waiting.join(', ')}, which waits for a restart`
}

/** What a lost host means: the instance begins elsewhere, or waits because its volume is there. */
function onLostHost(
  { state, nodeId, hasVolume, restartAtMs }: ExplainedInstance,
  sinceMs: number,
  recorded: Explanation,
): Explanation {
  const isStopped = state === InstanceState.Stopped && restartAtMs === undefined
  const moves = isStopped
    ? `it gets another host as soon as one has room; then ${recorded.next}`
    : 'it begins on another host as soon as one has room'
  return {
    ...recorded,
    now: `${recorded.now}; its host ${nodeId} has been lost since ${timeOf(sinceMs)}`,
    next: hasVolume
      ? `its volume data is there, so it waits for ${nodeId}; once the host is heard again, ${recorded.next}`
      : moves,
  }
}

/** Nothing that would come next can happen before a silent host is heard again. */
function onSilentHost(instance: ExplainedInstance, recorded: Explanation): Explanation {
  const { state, nodeId, hostSilentSinceMs, hostLostSinceMs, restartAtMs } = instance
  if (hostLostSinceMs !== undefined) return onLostHost(instance, hostLostSinceMs, recorded)
  const waitsForHost = state !== InstanceState.Stopped || restartAtMs !== undefined
  if (hostSilentSinceMs === undefined || !waitsForHost) return recorded
  return {
    ...recorded,
    now: `${recorded.now}; its host ${nodeId} has been silent since ${timeOf(hostSilentSinceMs)}`,
    next: `nothing before the host is heard again; then ${recorded.next}`,
  }
}

const wayBack =
  'a rollout keeps it as the way back: it is started if the rollout goes back, and deleted when its time is over'

/** Says what comes next for an instance that is given back. It comes before everything else that is due. */
function goesFor(instance: ExplainedInstance): string {
  const end = instance.state === InstanceState.Draining ? endOfDrain(instance) : 'it is shut down'
  return `${end}; then it is deleted, because it was given back`
}

type HostWord = (
  instance: ExplainedInstance,
  hostLease: HostLeaseView,
  nowMs: number,
) => Explanation | undefined

/** The explanation by the host's phase; undefined if the row says more. */
const byHost = {
  [LeasePhase.None]: () => undefined,
  [LeasePhase.Starting]: () => undefined,
  [LeasePhase.Running]: (instance, hostLease, nowMs) => {
    const awake = whyAwake(instance, hostLease, nowMs)
    const { failure, state } = instance
    // What runs has no other failure than that of a suspend.
    const failed = failure === undefined || state !== InstanceState.Running ? {} : { failure }
    return awake === undefined ? undefined : { ...awake, ...failed }
  },
  [LeasePhase.Draining]: (instance, hostLease) => ({
    now: `is draining, as asked: nothing new gets there, and ${inFlight(hostLease)}`,
    next: endOfDrain(instance),
  }),
  [LeasePhase.StandingBy]: (instance, hostLease) => ({
    now: `is going to standby, because ${whyQuiet(instance)}${restsOn(instance, hostLease)}`,
    next: 'it sleeps in a moment; whatever comes meanwhile waits and wakes it',
  }),
  [LeasePhase.Asleep]: whyAsleep,
  [LeasePhase.Held]: () => ({
    now: 'is asleep and held, because it moves between hosts',
    next: 'it wakes on the host where it is then, if anything waits for it; nothing wakes it before',
  }),
  [LeasePhase.Waking]: () => ({
    now: `is being woken, because ${somethingAsked}`,
    next: 'what waits for it is let through when it is up',
  }),
  [LeasePhase.Stopping]: () => undefined,
} satisfies Record<HostLeaseView['phase'], HostWord>

function whyQuiet({ suspended, scaleToZero }: ExplainedInstance): string {
  return suspended === true ? userSaidSo : quietFor(scaleToZero.cooldownMs)
}

function restsOn({ suspended }: ExplainedInstance, hostLease: HostLeaseView): string {
  return suspended === true && hostLease.leases > 0 ? `; ${inFlight(hostLease)}` : ''
}

/** Says why the VM stands still. Returns undefined if it does not. */
function whyStalled(
  { nodeId }: ExplainedInstance,
  { stalledSinceMs }: HostLeaseView,
): Explanation | undefined {
  if (stalledSinceMs === undefined) return undefined
  return {
    now: `stands still since ${timeOf(stalledSinceMs)}, because the disk of host ${nodeId} has no room for what it writes to its volume`,
    next: 'it goes on by itself as soon as there is room, and nothing is lost',
  }
}

function endOfDrain({ drainUntilMs }: ExplainedInstance): string {
  const latest =
    drainUntilMs === undefined
      ? 'or when its drain timeout is over'
      : `at the latest at ${timeOf(drainUntilMs)}`
  return `it is shut down when nothing is connected any more, ${latest}`
}

function whyAwake(
  instance: ExplainedInstance,
  hostLease: HostLeaseView,
  nowMs: number,
): Explanation | undefined {
  const { scaleToZero } = instance
  const since = `is awake since ${timeOf(instance.startedAtMs)}`
  if (!mayStandBy(scaleToZero)) {
    return { now: `${since}, and has no scale-to-zero policy`, next: 'it runs until it is stopped' }
  }
  if (hostLease.disabled) {
    return {
      now: `${since}, because it wants to: its scale_to_zero_disable count is above 0`,
      next: 'it stays awake until that count is 0 again',
    }
  }
  const cooldown = seconds(scaleToZero.cooldownMs)
  if (hostLease.noRoom !== undefined && hostLease.leases === 0) return withoutRoom(instance, hostLease.noRoom)
  if (hostLease.idleSinceMs !== undefined && hostLease.heldBack === true) {
    return {
      now: `is awake, although nothing has asked for it since ${timeOf(hostLease.idleSinceMs)}: instances of its user fell asleep on host ${instance.nodeId} as often as they may in a minute`,
      next: 'standby when it is its turn, unless something asks for it',
    }
  }
  if (hostLease.idleSinceMs !== undefined) {
    const dueMs = hostLease.idleSinceMs + scaleToZero.cooldownMs
    return {
      now: `is awake, and nothing has asked for it since ${timeOf(hostLease.idleSinceMs)}`,
      next: `standby ${dueMs > nowMs ? `at ${timeOf(dueMs)}` : 'at any moment'}, unless something asks for it`,
    }
  }
  const next = `standby ${cooldown} after the last of it`
  const { programs = 0 } = hostLease
  if (programs > 0) {
    const count =
      programs === 1 ? '1 program, copy or connection' : `${programs} programs, copies or connections`
    return { now: `${since}, because of ${count} of its user (roost exec, cp, tunnel)`, next }
  }
  if (hostLease.leases > 0) return { now: `${since}, because of traffic: ${inFlight(hostLease)}`, next }
  return {
    now: `${since}, because it came up just now or another instance speaks with it`,
    next: `standby when nothing has asked for it for ${cooldown}`,
  }
}

function withoutRoom(
  { nodeId, startedAtMs }: ExplainedInstance,
  { atMs, neededMb, leftMb }: NonNullable<HostLeaseView['noRoom']>,
): Explanation {
  return {
    now: `is awake since ${timeOf(startedAtMs)}, because the disk of host ${nodeId} has no room for its memory: at ${timeOf(atMs)} it needed ${neededMb} MB, and ${leftMb} MB were left`,
    next: 'standby is tried again about every minute while nothing asks for it; volumes and sleeping instances that are deleted make room, and one that is not stateful needs none',
  }
}

function whyAsleep(instance: ExplainedInstance, { boot, wakeFailure }: HostLeaseView): Explanation {
  const { state, stoppedAtMs } = instance
  const since =
    state === InstanceState.Standby && stoppedAtMs !== undefined ? ` since ${timeOf(stoppedAtMs)}` : ''
  const now =
    boot === 0
      ? 'is asleep from its creation: nothing has asked for it yet'
      : `is asleep${since}, because ${whyQuiet(instance)}; ${keptOf(instance)}`
  if (wakeFailure === undefined) return { now, next: 'a request, a connection or a start by hand wakes it' }
  return {
    now: `is asleep, because it could not be woken`,
    next: `requests are refused until ${timeOf(wakeFailure.retryAtMs)}; the first one after that tries again, as does a start by hand`,
    failure: wakeFailure.message,
  }
}

function keptOf({ snapshotUuid, failure }: ExplainedInstance): string {
  if (snapshotUuid !== undefined) return memoryIsKept(snapshotUuid)
  return failure === lostMemory ? lostMemory : itWasShutDown
}

/**
 * Returns the words for a phase. A host of another version may report a phase that this version does not
 * know; the result is undefined then.
 */
function wordOf(phase: LeasePhase): HostWord | undefined {
  return (byHost as Readonly<Partial<Record<string, HostWord>>>)[phase]
}

type Recorded = (instance: ExplainedInstance, hostLease: HostLeaseView | undefined) => Explanation

const byRecord = {
  [InstanceState.Stopped]: whyStopped,
  [InstanceState.Starting]: ({ nodeId, failure }) => ({
    now: `is starting on host ${nodeId}`,
    next: 'it runs as soon as its application is entered',
    ...(failure === undefined ? {} : { failure }),
  }),
  [InstanceState.Running]: whyRunning,
  [InstanceState.Draining]: (instance) => ({
    now: 'is draining, as asked: nothing new gets there',
    next: endOfDrain(instance),
  }),
  [InstanceState.Stopping]: ({ nodeId }) => ({
    now: 'is stopping, as asked',
    next: `host ${nodeId} ends it`,
  }),
  [InstanceState.Standby]: ({ stoppedAtMs, suspended }) => ({
    now: `is asleep${stoppedAtMs === undefined ? '' : ` since ${timeOf(stoppedAtMs)}`}, because ${suspended === true ? userSaidSo : 'nothing asked for it'}`,
    next: 'a request, a connection or a start by hand wakes it',
  }),
} satisfies Record<InstanceState, Recorded>

function whyRunning(
  { startedAtMs, nodeId, hostSilentSinceMs }: ExplainedInstance,
  hostLease: HostLeaseView | undefined,
): Explanation {
  const since = timeOf(startedAtMs)
  if (hostLease !== undefined) {
    return { now: `is awake since ${since}`, next: 'what becomes of it is recorded in a moment' }
  }
  if (hostSilentSinceMs !== undefined) {
    return { now: `is recorded as awake since ${since}`, next: 'the host says what became of it' }
  }
  return {
    now: `is awake since ${since}; why, only host ${nodeId} knows, which does not answer`,
    next: 'not known',
  }
}

function whyStopped({
  boot,
  stoppedAtMs,
  stopReason,
  exitCode,
  restartAtMs,
  failure,
}: ExplainedInstance): Explanation {
  const exit = exitCode === undefined ? '' : ` and exit code ${exitCode}`
  return {
    now:
      boot === 0
        ? 'is stopped, because nobody started it yet'
        : `is stopped since ${timeOf(stoppedAtMs)}, with stop reason ${stopReason ?? 0}${exit}`,
    next:
      restartAtMs === undefined
        ? 'nothing, until it is started; traffic does not start it'
        : startsAgainAt(restartAtMs),
    ...(failure === undefined ? {} : { failure }),
  }
}

function inFlight({ requests, connections, queued }: HostLeaseView): string {
  const parts = [
    ...(requests > 0 ? [counted(requests, 'request is', 'requests are')] : []),
    ...(connections > 0 ? [counted(connections, 'connection is', 'connections are')] : []),
    ...(queued > 0 ? [`${queued} more wait`] : []),
  ]
  return parts.length === 0 ? 'the last request or connection ended just now' : `${parts.join(', ')} there`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
