import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import { hostEventSignalName } from '../../src/domain/instance/host-work.ts'
import type { HostEvent } from '../../src/domain/instance/host-work.ts'
import type { Lifecycle } from '../../src/domain/instance/lifecycle-state.ts'
import type { InstanceState } from '../../src/domain/instance/state.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/**
 * The messages to `instance/<uuid>`. They hold identifiers only, never environment variables or arguments.
 */
export const instanceWorkflowType = 'instance'

export function instanceWorkflowId(instanceUuid: string): string {
  return entityWorkflowId(instanceWorkflowType, instanceUuid)
}

export interface StopRequest {
  readonly force: boolean
  readonly drainTimeoutMs: number
  /** Delete the instance when it has stopped. No start takes that back. */
  readonly thenDelete?: boolean
}

/**
 * The answer to a start or stop. A reader that waits in PostgreSQL for `revision` sees the state that the
 * answer tells.
 */
export interface TransitionAnswer {
  readonly previousState: InstanceState
  readonly state: InstanceState
  readonly revision: number
}

export const startUpdate = defineUpdate<TransitionAnswer>('start')
export const stopUpdate = defineUpdate<TransitionAnswer, [StopRequest]>('stop')
export const hostEventSignal = defineSignal<[HostEvent]>(hostEventSignalName)
export const lifecycleQuery = defineQuery<Lifecycle>(lifeQueryName)

/** The type of the failure of updates that come after the deletion. */
export const instanceDeletedFailure = 'InstanceDeleted'
