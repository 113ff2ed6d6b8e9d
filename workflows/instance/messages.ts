import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import type { Asker } from '../../src/domain/event/asker.ts'
import type { ConfigurationChange } from '../../src/domain/instance/configuration.ts'
import { hostEventSignalName } from '../../src/domain/instance/host-work.ts'
import type { HostEvent, MovedVolume, MovePlace } from '../../src/domain/instance/host-work.ts'
import type { HostLoss } from '../../src/domain/host/term.ts'
import type { Lifecycle } from '../../src/domain/instance/lifecycle-state.ts'
import type { InstanceState } from '../../src/domain/instance/state.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/**
 * The messages to the workflow `instance/<uuid>`, beside those that every entity takes. Histories keep them,
 * so they never hold environment variables or arguments of an application.
 */

export const instanceWorkflowType = 'instance'

export function instanceWorkflowId(instanceUuid: string): string {
  return entityWorkflowId(instanceWorkflowType, instanceUuid)
}

/** Absent in requests from before askers were told. */
export interface StartRequest {
  readonly asker?: Asker
}

export interface StopRequest {
  readonly force: boolean
  readonly drainTimeoutMs: number
  /** Delete the instance when it has stopped. No start takes that back. */
  readonly thenDelete?: boolean
  readonly asker?: Asker
}

export interface SuspendRequest {
  readonly drainTimeoutMs: number
  readonly asker?: Asker
}

export interface MoveRequest {
  /** The host that the row named when the move was asked for. */
  readonly from: MovePlace
  readonly to: MovePlace
  /** The volume that the instance had then. It moves with it. */
  readonly volume?: MovedVolume
  readonly asker?: Asker
}

/** The row has the change already. A change that was told before has no effect. */
export interface ChangeRequest {
  readonly change: ConfigurationChange
  readonly asker?: Asker
}

/**
 * The answer to a start, stop, suspend, move or change. A reader that waits until the row has this
 * `revision` sees the state that the answer says, or a later one.
 */
export interface TransitionAnswer {
  readonly previousState: InstanceState
  readonly state: InstanceState
  readonly revision: number
}

export const startUpdate = defineUpdate<TransitionAnswer, [StartRequest | undefined]>('start')
export const stopUpdate = defineUpdate<TransitionAnswer, [StopRequest]>('stop')
export const suspendUpdate = defineUpdate<TransitionAnswer, [SuspendRequest]>('suspend')
export const moveUpdate = defineUpdate<TransitionAnswer, [MoveRequest]>('move')
export const changeUpdate = defineUpdate<TransitionAnswer, [ChangeRequest]>('change')
export const hostEventSignal = defineSignal<[HostEvent]>(hostEventSignalName)
/** The instance's host is lost, so its VM has ended. May be repeated. */
export const hostLostSignal = defineSignal<[HostLoss]>('hostLost')
export const lifecycleQuery = defineQuery<Lifecycle>(lifeQueryName)

/** The type of the failure of a refused update: the instance is deleted, or is certain to be deleted. */
export const instanceDeletedFailure = 'InstanceDeleted'

/** The type of the failure of a refused move. Its message is a sentence for people. */
export const moveRefusedFailure = 'MoveRefused'
