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

/** A start may have to fetch an image of many gigabytes. */
const longestStartMs = 900_000
const longestRemoveMs = 120_000
/** Beyond the shutdown grace: for the VMM to end and the host to write it down. */
const stopMarginMs = 60_000
/** Memory may be many gigabytes, and goes to disk. */
const longestSnapshotMs = 300_000
/** The API allows less; how long it really lasts the lifecycle decides, and calls the rest off. */
const longestDrainMs = 7 * 86_400_000
/**
 * Of one boot, where the host says that the same boot may still come up: over 3.5 s. Then the lifecycle
 * decides.
 */
const attemptsOfOneBoot = 4

const forOneBoot = {
  ...patiently,
  maximumAttempts: attemptsOfOneBoot,
  nonRetryableErrorTypes: [...finalHostFailures],
}
/** Only a host that does not know the instance needs no more asking to end or to remove it. */
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
 * Repeated until it is answered: what the host made of an order whose answer was lost is told by the next
 * answer.
 */
async function standBy(work: WorkOf<'stand-by'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const { kind: _kind, ...order } = work
  const startToCloseTimeout = work.graceMs + stopMarginMs + (work.stateful ? longestSnapshotMs : 0)
  const host = hostFor(work, at, { startToCloseTimeout, retry: untilDone })
  const result = await host.standByInstance({ instanceUuid: at.instanceUuid, ...order })
  const { boot, epoch, permit } = work
  if (!result.slept) return [{ kind: EventKind.StandByRefused, boot, epoch, reason: result.reason }]
  const { slept: _slept, ...sleep } = result
  return [{ kind: EventKind.Slept, boot, permit, ...sleep }]
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
  // That boot was only permitted: the host can not start it any more, and what ended was the boot before it.
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

/** The host does not know the instance: there is nothing that could end, sleep or be waited for. */
const unknownTo = {
  [HostWorkKind.Stop]: ({ boot }) => ({ kind: EventKind.Absent, boot }),
  [HostWorkKind.Remove]: () => ({ kind: EventKind.Removed }),
  [HostWorkKind.Drain]: () => ({ kind: EventKind.ConnectionsClosed }),
  [HostWorkKind.StandBy]: ({ boot, epoch }) => ({
    kind: EventKind.StandByRefused,
    boot,
    epoch,
    reason: StandByRefusal.NotRunning,
  }),
} satisfies { readonly [K in Exclude<HostWorkKind, 'start'>]: (work: WorkOf<K>) => LifecycleEvent }
