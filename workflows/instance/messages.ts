import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import { hostEventSignalName } from '../../src/domain/instance/host-work.ts'
import type { HostEvent } from '../../src/domain/instance/host-work.ts'
import type { Lifecycle } from '../../src/domain/instance/lifecycle-state.ts'
import type { InstanceState } from '../../src/domain/instance/state.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/**
 * What the world says to `instance/<uuid>`. Identifiers only: environment and arguments never come through
 * here.
 */
export const instanceWorkflowType = 'instance'

export function instanceWorkflowId(instanceUuid: string): string {
  return entityWorkflowId(instanceWorkflowType, instanceUuid)
}

export interface StopRequest {
  readonly force: boolean
  readonly drainTimeoutMs: number
  /** It goes when it has stopped, and no start takes that back. */
  readonly thenDelete?: boolean
}

/**
 * `revision` is that of the state the answer tells of: a reader that waits for it in PostgreSQL sees that
 * state.
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

/** Type of the failure of updates that come after the deletion. */
export const instanceDeletedFailure = 'InstanceDeleted'
