import { proxyActivities } from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'
import { HostFailure, StandByRefusal, finalHostFailures } from '../../src/domain/instance/host-work.ts'
import type {
  HostActivities,
  MoveActivities,
  MovedVolume,
  MovePlace,
} from '../../src/domain/instance/host-work.ts'
import { HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork, MoveWork } from '../../src/domain/instance/lifecycle-effects.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import type { WorkCalls } from '../entity-worker.ts'
import { hostFailureOf, isNodeAway, nodeCallOptions, patiently } from '../host-calls.ts'
import type { NodeAddress } from '../host-calls.ts'

/** The longest start. The host may have to fetch an image of many gigabytes first. */
const longestStartMs = 900_000
const longestRemoveMs = 120_000
/** The longest time until an instance is held. The file system of its volume may be checked before. */
const longestHoldMs = 360_000
/** The longest time until a host offers a volume to another one. */
const longestOfferMs = 60_000
/** The longest transfer to another host: a memory of many gigabytes crosses the network between them. */
const longestFetchMs = 3_600_000
/**
 * How much longer it may take for each MiB of a volume, whose content crosses the network at 10 MB/s or
 * more.
 */
const longestFetchMsPerMb = 100
/**
 * How much longer than the shutdown grace a stop may take: the VMM has to end, and the host has to write
 * that down.
 */
const stopMarginMs = 60_000
/** The longest time for writing a snapshot: many gigabytes of memory go to disk. */
const longestSnapshotMs = 300_000
/**
 * The longest drain. It never decides: the API allows an hour at most, and the lifecycle ends a drain that
 * lasts too long by a stop.
 */
const longestDrainMs = 7 * 86_400_000
/**
 * How many attempts one boot has if the host says that it may still come up: 4 attempts, with 3.5 s of
 * pauses in all. After that, the lifecycle decides.
 */
const attemptsOfOneBoot = 4

const forOneBoot = {
  ...patiently,
  maximumAttempts: attemptsOfOneBoot,
  nonRetryableErrorTypes: [...finalHostFailures],
}
/** The failure of a call that an agent of an earlier version does not know. */
const unknownCall = 'NotFoundError'
/**
 * A hold and a transfer have few attempts, because each may take long, and the instance waits meanwhile. What
 * fails for good, as if the instance has a volume, is tried once.
 */
const forOneMove = {
  ...patiently,
  maximumAttempts: 3,
  nonRetryableErrorTypes: [...finalHostFailures, unknownCall],
}
/** A copy of a volume has one attempt, because the move goes on without it. */
const once = { maximumAttempts: 1 }
/**
 * Work that ends something at a host is repeated until it succeeds. If the host does not know the instance,
 * there is nothing to end, and no repeat is needed.
 */
const untilDone = { ...patiently, nonRetryableErrorTypes: [HostFailure.UnknownInstance] }
const untilReleased = { ...patiently, nonRetryableErrorTypes: [HostFailure.UnknownInstance, unknownCall] }

const moveKinds: ReadonlySet<HostWorkKind> = new Set([
  HostWorkKind.Copy,
  HostWorkKind.Hold,
  HostWorkKind.Fetch,
  HostWorkKind.Take,
  HostWorkKind.Release,
])

/** Whether the work is a step of a move. It is called off as soon as it is not wanted any more. */
export function isOfMove(work: HostWork): work is MoveWork {
  return moveKinds.has(work.kind)
}

type WorkOf<K extends HostWorkKind> = Extract<HostWork, { readonly kind: K }>

interface CalledInstance {
  readonly instanceUuid: string
  /** The host where the instance is now. */
  readonly nodeId: () => string
}
type HostAddress = Pick<CalledInstance, 'instanceUuid'> & NodeAddress

export function instanceCalls({ instanceUuid, nodeId }: CalledInstance): WorkCalls<HostWork, LifecycleEvent> {
  return {
    perform(work, nodeAway) {
      const at = { instanceUuid, nodeId: nodeId(), nodeAway }
      switch (work.kind) {
        case HostWorkKind.Start:
          return start(work, at)
        case HostWorkKind.Stop:
          return stop(work, at)
        case HostWorkKind.StandBy:
          return standBy(work, at)
        case HostWorkKind.Drain:
          return drain(work, at)
        case HostWorkKind.Change:
          return change(work, at)
        case HostWorkKind.Remove:
          return remove(work, at)
        case HostWorkKind.Copy:
          return copy(work, instanceUuid)
        case HostWorkKind.Hold:
          return hold(work, at)
        case HostWorkKind.Fetch:
          return fetch(work, { instanceUuid, nodeId: work.at, nodeAway: false })
        case HostWorkKind.Take:
          return take(work, at)
        case HostWorkKind.Release:
          return release(work, at)
        default:
          return work satisfies never
      }
    },
    eventOfFailure,
    nameOf: nameOfWork,
  }
}

async function remove(work: WorkOf<'remove'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestRemoveMs, retry: untilDone })
  await host.removeInstance({ instanceUuid: at.instanceUuid })
  return [{ kind: EventKind.Removed }]
}

/**
 * Sends an order for standby, and repeats it until the host answers. If an answer is lost, the answer to the
 * repeat says what the host did.
 */
async function standBy(work: WorkOf<'stand-by'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const { kind: _kind, ...order } = work
  const { graceMs, drainMs = 0, stateful } = work
  const startToCloseTimeout = graceMs + drainMs + stopMarginMs + (stateful ? longestSnapshotMs : 0)
  const host = hostFor(work, at, { startToCloseTimeout, retry: untilDone })
  const result = await host.standByInstance({ instanceUuid: at.instanceUuid, ...order })
  const { boot, epoch, permit } = work
  if (!result.slept) return [{ kind: EventKind.StandByRefused, boot, epoch, reason: result.reason }]
  const { slept: _slept, ...sleep } = result
  return [{ kind: EventKind.Slept, boot, permit, ...sleep }]
}

async function change(work: WorkOf<'change'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const { kind: _kind, ...told } = work
  const host = hostFor(work, at, { startToCloseTimeout: longestStartMs, retry: untilDone })
  const { renewed } = await host.changeInstance({ instanceUuid: at.instanceUuid, ...told })
  const { version, renew } = work
  return [{ kind: EventKind.ChangeTaken, version, renew, renewed }]
}

async function drain(work: WorkOf<'drain'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestDrainMs, retry: untilDone })
  await host.drainInstance({ instanceUuid: at.instanceUuid, boot: work.boot })
  return [{ kind: EventKind.ConnectionsClosed }]
}

async function start(work: WorkOf<'start'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestStartMs, retry: forOneBoot })
  const { boot } = work
  const { started, exit, slept } = await host.startInstance({ instanceUuid: at.instanceUuid, boot })
  const up: LifecycleEvent = { kind: EventKind.Started, report: started }
  if (slept !== undefined) return [up, { kind: EventKind.Slept, boot, ...slept }]
  return exit === undefined ? [up] : [up, { kind: EventKind.Exited, exit }]
}

async function stop(work: WorkOf<'stop'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const { boot, forced, graceMs } = work
  const host = hostFor(work, at, { startToCloseTimeout: graceMs + stopMarginMs, retry: untilDone })
  const { exit } = await host.stopInstance({ instanceUuid: at.instanceUuid, boot, forced, graceMs })
  if (exit?.boot === boot) return [{ kind: EventKind.Exited, exit }]
  // That boot did not begin: the host had only a permit for it, which it has lost now. If something ended,
  // it was the boot before.
  const absent: LifecycleEvent = { kind: EventKind.Absent, boot }
  return exit === undefined ? [absent] : [{ kind: EventKind.Exited, exit }, absent]
}

/**
 * The old host offers the volume, and the new one copies it. A host that takes no call ends the copy, and not
 * the move.
 */
async function copy(work: WorkOf<'copy'>, instanceUuid: string): Promise<readonly LifecycleEvent[]> {
  const { atMs, runs: boot, from, to, volume } = work
  const over = { kind: EventKind.Copied, atMs, boot } as const
  const at = ({ nodeId }: MovePlace): HostAddress => ({ instanceUuid, nodeId, nodeAway: false })
  const called = { instanceUuid, boot, volume }
  let asked = from
  try {
    const old = hostFor(work, at(from), { startToCloseTimeout: longestOfferMs, retry: once })
    const offer = await old.offerVolume({ ...called, to })
    if (!offer.offered) return [{ ...over, why: notRunning }]
    asked = to
    const next = hostFor(work, at(to), { startToCloseTimeout: longestTransferMs(volume), retry: once })
    await next.copyVolume({ ...called, from: { ...from, port: offer.port } })
    return [over]
  } catch (error) {
    if (!isNodeAway(error)) throw error
    return [{ ...over, why: takesNoWork(asked.nodeId) }]
  }
}

async function hold(work: WorkOf<'hold'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestHoldMs, retry: forOneMove })
  const { atMs, held: boot, permit, to, volume } = work
  const { instanceUuid } = at
  const called = {
    instanceUuid,
    boot,
    ...(permit !== undefined && { permit }),
    ...(volume && { volume }),
    to,
  }
  const result = await host.holdInstance(called)
  if (!result.held) return [{ kind: EventKind.MoveFailed, atMs, why: notHeld }]
  return [{ kind: EventKind.Held, atMs, port: result.port }]
}

/**
 * Only the old host waits for a host that is away, because the instance is there. A new host that takes no
 * call ends the move.
 */
async function fetch(work: WorkOf<'fetch'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const { atMs, held: boot, permit, from, volume } = work
  const host = hostFor(work, at, { startToCloseTimeout: longestTransferMs(volume), retry: forOneMove })
  const { instanceUuid } = at
  try {
    const slept = { boot, ...(permit !== undefined && { permit }), ...(volume && { volume }) }
    const result = await host.fetchInstance({ instanceUuid, ...slept, from })
    // A host of an earlier version leaves the volume behind.
    if (result.volumeUuid !== volume?.uuid) return [{ kind: EventKind.MoveFailed, atMs, why: noVolumes }]
    const without = result.memory === 'unfit' ? { withoutMemory: result.why } : {}
    return [{ kind: EventKind.Fetched, atMs, ...without }]
  } catch (error) {
    if (!isNodeAway(error)) throw error
    return [{ kind: EventKind.MoveFailed, atMs, why: takesNoWork(at.nodeId) }]
  }
}

async function take(work: WorkOf<'take'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestRemoveMs, retry: untilDone })
  await host.takeInstance({ instanceUuid: at.instanceUuid })
  return [{ kind: EventKind.Taken, atMs: work.atMs }]
}

async function release(work: WorkOf<'release'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestRemoveMs, retry: untilReleased })
  await host.releaseInstance({ instanceUuid: at.instanceUuid })
  return [{ kind: EventKind.Released, atMs: work.atMs }]
}

function longestTransferMs(volume: MovedVolume | undefined): number {
  return longestFetchMs + (volume?.sizeMb ?? 0) * longestFetchMsPerMb
}

function takesNoWork(nodeId: string): string {
  return `host ${nodeId} takes no work`
}

const notRunning = 'its VM did not run any more'
const notHeld = 'it was woken before its host could hold it'
const noVolumes = 'its new host has a version of Roost that moves no volumes'

type Host = HostActivities & MoveActivities

function hostFor(work: HostWork, at: HostAddress, options: ActivityOptions): Host {
  return proxyActivities<Host>({ ...nodeCallOptions(at, nameOfWork(work)), ...options })
}

export function nameOfWork(work: HostWork): string {
  if (work.kind === HostWorkKind.Copy)
    return `copy the volume of boot ${work.runs} for the move of ${work.atMs}`
  if (isOfMove(work)) return `${work.kind} it for the move of ${work.atMs}`
  if (work.kind === HostWorkKind.Remove) return 'remove'
  if (work.kind === HostWorkKind.StandBy) {
    return `stand by after boot ${work.boot}, permit ${work.permit}, idle period ${work.epoch}`
  }
  if (work.kind === HostWorkKind.Change) return `take over configuration ${work.version}`
  const name = `${work.kind} boot ${work.boot}`
  return work.kind === HostWorkKind.Stop && work.forced ? `${name} by force` : name
}

function eventOfFailure(work: HostWork, error: unknown): LifecycleEvent | undefined {
  const { failure, type, message = 'the host failed' } = hostFailureOf(error)
  const isTry = work.kind === HostWorkKind.Hold || work.kind === HostWorkKind.Fetch
  if (isTry)
    return { kind: EventKind.MoveFailed, atMs: work.atMs, why: type === unknownCall ? tooOld : message }
  if (work.kind === HostWorkKind.Copy) {
    const { atMs, runs: boot } = work
    return { kind: EventKind.Copied, atMs, boot, why: type === unknownCall ? copiesNothing : message }
  }
  // A host of an earlier version holds nothing.
  if (work.kind === HostWorkKind.Release && type === unknownCall)
    return { kind: EventKind.Released, atMs: work.atMs }
  if (work.kind === HostWorkKind.Start) {
    return { kind: EventKind.StartFailed, boot: work.boot, failure, message }
  }
  if (work.kind === HostWorkKind.StandBy && work.hold !== undefined && failure === HostFailure.BootFailed) {
    const { boot, epoch } = work
    return { kind: EventKind.StandByRefused, boot, epoch, reason: StandByRefusal.CanNotMove }
  }
  return failure === HostFailure.UnknownInstance ? unknownTo[work.kind](work as never) : undefined
}

const copiesNothing = 'one of its hosts has a version of Roost that copies no volume while its instance runs'
const tooOld = 'one of its hosts has a version of Roost that moves no instances'

/**
 * The events if the host does not know the instance. There is nothing then that could end, sleep or drain.
 */
const unknownTo = {
  [HostWorkKind.Stop]: ({ boot }) => ({ kind: EventKind.Absent, boot }),
  [HostWorkKind.Remove]: () => ({ kind: EventKind.Removed }),
  [HostWorkKind.Drain]: () => ({ kind: EventKind.ConnectionsClosed }),
  [HostWorkKind.Change]: ({ version, renew }) => ({
    kind: EventKind.ChangeTaken,
    version,
    renew,
    renewed: false,
  }),
  [HostWorkKind.StandBy]: ({ boot, epoch }) => ({
    kind: EventKind.StandByRefused,
    boot,
    epoch,
    reason: StandByRefusal.NotRunning,
  }),
  // The workflow alone knows whose the instance is. A host that lost it says so by an event.
  [HostWorkKind.Take]: ({ atMs }) => ({ kind: EventKind.Taken, atMs }),
  [HostWorkKind.Release]: ({ atMs }) => ({ kind: EventKind.Released, atMs }),
} satisfies {
  readonly [K in Exclude<HostWorkKind, 'start' | 'copy' | 'hold' | 'fetch'>]: (
    work: WorkOf<K>,
  ) => LifecycleEvent
}
