import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'
import { HostFailure, nodeTaskQueue } from '../src/domain/instance/host-work.ts'

/** A host that takes no work for this long is away. */
const nodeSilentMs = 10_000
/** How long one call waits for a host that is known to be away. It is taken at once when the host is back. */
const nodeAwayWaitMs = 600_000
/** An agent that was killed while it worked is noticed after this. */
const heartbeatTimeoutMs = 10_000

export const patiently = { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' } as const

export interface NodeAddress {
  readonly nodeId: string
  /** The host took no work when it was last asked. */
  readonly nodeAway: boolean
}

/** Whatever is asked of a host goes through its own queue, and is waited for as long as it is away. */
export function nodeCallOptions(at: NodeAddress, summary: string): ActivityOptions {
  return {
    taskQueue: nodeTaskQueue(at.nodeId),
    scheduleToStartTimeout: at.nodeAway ? nodeAwayWaitMs : nodeSilentMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    summary,
  }
}

/** Nobody took the call from the host's queue. Temporal does not repeat that by itself. */
export function isNodeAway(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START'
}

/** What the host failed with; `failure` is undefined where it has no word for it. */
export function hostFailureOf(error: unknown): {
  readonly failure: HostFailure | undefined
  readonly message: string | undefined
} {
  const cause = error instanceof ActivityFailure ? error.cause : error
  const type = cause instanceof ApplicationFailure ? cause.type : undefined
  return {
    failure: Object.values(HostFailure).find((failure) => failure === type),
    message: cause instanceof Error ? cause.message : undefined,
  }
}

/** What a host tells of an entity, and what each of it means to the entity's life. */
export type HeardAs<Told extends { readonly kind: string }, Event> = {
  readonly [Kind in Told['kind']]: (told: Extract<Told, { readonly kind: Kind }>) => Event
}

/**
 * The event that a host's word means. The agent of a host may be newer than this worker, and know of more to
 * tell: that is left aside, with undefined.
 */
export function heardEvent<Told extends { readonly kind: string }, Event>(
  heardAs: HeardAs<Told, Event>,
  told: Told,
): Event | undefined {
  const heard = heardAs[told.kind as Told['kind']] as ((told: Told) => Event) | undefined
  return heard?.(told)
}
