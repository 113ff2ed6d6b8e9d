import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'
import { HostFailure, nodeTaskQueue } from '../src/domain/instance/host-work.ts'

/** A host that takes no work for this long counts as away. */
const nodeSilentMs = 10_000
/**
 * How long one call waits for a host that is known to be away. A host that comes back takes the call at
 * once.
 */
const nodeAwayWaitMs = 600_000
/**
 * After this time without a heartbeat of a call, Temporal assumes that the agent was killed, and repeats
 * the call.
 */
const heartbeatTimeoutMs = 10_000

export const patiently = { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' } as const

export interface NodeAddress {
  readonly nodeId: string
  /** Whether the host took no work when it was last asked. */
  readonly nodeAway: boolean
}

/**
 * The options of a call to a host. Each host has its own task queue. A call waits in that queue while the
 * host is away.
 */
export function nodeCallOptions(at: NodeAddress, summary: string): ActivityOptions {
  return {
    taskQueue: nodeTaskQueue(at.nodeId),
    scheduleToStartTimeout: at.nodeAway ? nodeAwayWaitMs : nodeSilentMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    summary,
  }
}

/**
 * Whether the call failed because nobody took it from the host's queue. Temporal does not repeat such a call
 * by itself.
 */
export function isNodeAway(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START'
}

/**
 * The failure that the host reported, with its message. `failure` is undefined if the error is none of the
 * known ones.
 */
export function hostFailureOf(error: unknown): {
  readonly failure: HostFailure | undefined
  /** The type of the failure, whether or not it is one of those. */
  readonly type: string | undefined
  readonly message: string | undefined
} {
  const cause = error instanceof ActivityFailure ? error.cause : error
  const type = cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined
  return {
    failure: Object.values(HostFailure).find((failure) => failure === type),
    type,
    message: cause instanceof Error ? cause.message : undefined,
  }
}

/** Turns each kind of report of a host into an event of the entity's life. */
export type HeardAs<Told extends { readonly kind: string }, Event> = {
  readonly [Kind in Told['kind']]: (told: Extract<Told, { readonly kind: Kind }>) => Event
}

/**
 * Returns the event that a host's report means. A host's agent may be newer than this worker, and send a
 * kind of report that this worker does not know. The answer is then undefined, and the report is ignored.
 */
export function heardEvent<Told extends { readonly kind: string }, Event>(
  heardAs: HeardAs<Told, Event>,
  told: Told,
): Event | undefined {
  const heard = heardAs[told.kind as Told['kind']] as ((told: Told) => Event) | undefined
  return heard?.(told)
}
