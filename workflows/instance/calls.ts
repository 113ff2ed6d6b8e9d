import { proxyActivities } from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'
import { HostFailure, StandByRefusal, finalHostFailures } from '../../src/domain/instance/host-work.ts'
import type { HostActivities } from '../../src/domain/instance/host-work.ts'
import { HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork } from '../../src/domain/instance/lifecycle-effects.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import type { WorkCalls } from '../entity-worker.ts'
import { hostFailureOf, nodeCallOptions, patiently } from '../host-calls.ts'
import type { NodeAddress } from '../host-calls.ts'

/** The longest start. The host may have to fetch an image of many gigabytes first. */
const longestStartMs = 900_000
const longestRemoveMs = 120_000
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
/**
 * Work that ends something at a host is repeated until it succeeds. If the host does not know the instance,
 * there is nothing to end, and no repeat is needed.
 */
const untilDone = { ...patiently, nonRetryableErrorTypes: [HostFailure.UnknownInstance] }

type WorkOf<K extends HostWorkKind> = Extract<HostWork, { readonly kind: K }>

interface PlacedInstance {
  readonly instanceUuid: string
  readonly nodeId: string
}
type HostAddress = PlacedInstance & NodeAddress

export function instanceCalls({ instanceUuid, nodeId }: PlacedInstance): WorkCalls<HostWork, LifecycleEvent> {
  return {
    perform(work, nodeAway) {
      const at = { instanceUuid, nodeId, nodeAway }
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

function hostFor(work: HostWork, at: HostAddress, options: ActivityOptions): HostActivities {
  return proxyActivities<HostActivities>({ ...nodeCallOptions(at, nameOfWork(work)), ...options })
}

function nameOfWork(work: HostWork): string {
  if (work.kind === HostWorkKind.Remove) return 'remove'
  if (work.kind === HostWorkKind.StandBy) {
    return `stand by after boot ${work.boot}, permit ${work.permit}, idle period ${work.epoch}`
  }
  if (work.kind === HostWorkKind.Change) return `take over configuration ${work.version}`
  const name = `${work.kind} boot ${work.boot}`
  return work.kind === HostWorkKind.Stop && work.forced ? `${name} by force` : name
}

function eventOfFailure(work: HostWork, error: unknown): LifecycleEvent | undefined {
  const { failure, message = 'the host failed' } = hostFailureOf(error)
  if (work.kind === HostWorkKind.Start) {
    return { kind: EventKind.StartFailed, boot: work.boot, failure, message }
  }
  return failure === HostFailure.UnknownInstance ? unknownTo[work.kind](work as never) : undefined
}

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
} satisfies { readonly [K in Exclude<HostWorkKind, 'start'>]: (work: WorkOf<K>) => LifecycleEvent }
