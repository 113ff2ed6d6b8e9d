import { ActivityFailure, ApplicationFailure, TimeoutFailure, proxyActivities } from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'
import { HostFailure, finalHostFailures, nodeTaskQueue } from '../src/domain/host-work.ts'
import type { HostActivities } from '../src/domain/host-work.ts'
import { HostWorkKind } from '../src/domain/lifecycle-effects.ts'
import type { HostWork } from '../src/domain/lifecycle-effects.ts'
import { EventKind } from '../src/domain/lifecycle-state.ts'
import type { LifecycleEvent } from '../src/domain/lifecycle-state.ts'

/** A host that takes no work for this long is away. */
const nodeSilentMs = 10_000
/** How long one call waits for a host that is known to be away. It is taken at once when the host is back. */
const nodeAwayWaitMs = 600_000
/** An agent that was killed while it worked is noticed after this. */
const heartbeatTimeoutMs = 10_000
/** A start may have to fetch an image of many gigabytes. */
const longestStartMs = 900_000
const longestRemoveMs = 120_000
/** Beyond the shutdown grace: for the VMM to end and the host to write it down. */
const stopMarginMs = 60_000
/** Of one boot, where the host says that the same boot may still come up: over 3.5 s. Then the lifecycle decides. */
const attemptsOfOneBoot = 4

const patiently = { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' } as const
const forOneBoot = {
  ...patiently,
  maximumAttempts: attemptsOfOneBoot,
  nonRetryableErrorTypes: [...finalHostFailures],
}
/** Only a host that does not know the instance needs no more asking to end or to remove it. */
const untilDone = { ...patiently, nonRetryableErrorTypes: [HostFailure.UnknownInstance] }

type WorkOf<K extends HostWorkKind> = Extract<HostWork, { readonly kind: K }>

export interface HostAddress {
  readonly instanceUuid: string
  readonly nodeId: string
  readonly nodeAway: boolean
}

/** One call of the host, and what it tells the lifecycle. Throws what the activity failed with. */
export async function perform(work: HostWork, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  if (work.kind === HostWorkKind.Start) return start(work, at)
  if (work.kind === HostWorkKind.Stop) return stop(work, at)
  const host = hostFor(work, at, { startToCloseTimeout: longestRemoveMs, retry: untilDone })
  await host.removeInstance({ instanceUuid: at.instanceUuid })
  return [{ kind: EventKind.Removed }]
}

async function start(work: WorkOf<'start'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const host = hostFor(work, at, { startToCloseTimeout: longestStartMs, retry: forOneBoot })
  const { started, exit } = await host.startInstance({ instanceUuid: at.instanceUuid, boot: work.boot })
  const up: LifecycleEvent = { kind: EventKind.Started, report: started }
  return exit === undefined ? [up] : [up, { kind: EventKind.Exited, exit }]
}

async function stop(work: WorkOf<'stop'>, at: HostAddress): Promise<readonly LifecycleEvent[]> {
  const { boot, forced, graceMs } = work
  const host = hostFor(work, at, { startToCloseTimeout: graceMs + stopMarginMs, retry: untilDone })
  const { exit } = await host.stopInstance({ instanceUuid: at.instanceUuid, boot, forced, graceMs })
  return [exit === undefined ? { kind: EventKind.Absent, boot } : { kind: EventKind.Exited, exit }]
}

function hostFor(work: HostWork, at: HostAddress, options: ActivityOptions): HostActivities {
  return proxyActivities<HostActivities>({
    taskQueue: nodeTaskQueue(at.nodeId),
    scheduleToStartTimeout: at.nodeAway ? nodeAwayWaitMs : nodeSilentMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    summary: nameOfWork(work),
    ...options,
  })
}

/** Also the identity of a call: there is never a second one of a name under way. */
export function nameOfWork(work: HostWork): string {
  if (work.kind === HostWorkKind.Remove) return 'remove'
  const name = `${work.kind} boot ${work.boot}`
  return work.kind === HostWorkKind.Stop && work.forced ? `${name} by force` : name
}

/** Nobody took the call from the host's queue. Temporal does not repeat that by itself. */
export function isNodeAway(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START'
}

/** What a failure means to the lifecycle; undefined where the work has to be done all the same. */
export function eventOfFailure(work: HostWork, error: unknown): LifecycleEvent | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error
  const failure = hostFailureOf(cause)
  if (work.kind === HostWorkKind.Start) {
    const message = cause instanceof Error ? cause.message : 'the host failed'
    return { kind: EventKind.StartFailed, boot: work.boot, failure, message }
  }
  if (failure !== HostFailure.UnknownInstance) return undefined
  return work.kind === HostWorkKind.Stop
    ? { kind: EventKind.Absent, boot: work.boot }
    : { kind: EventKind.Removed }
}

function hostFailureOf(cause: unknown): HostFailure | undefined {
  if (!(cause instanceof ApplicationFailure)) return undefined
  return Object.values(HostFailure).find((failure) => failure === cause.type)
}
