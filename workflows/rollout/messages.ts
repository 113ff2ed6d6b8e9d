import { defineSignal } from '@temporalio/workflow'
import { entityWorkflowId } from '../entity-messages.ts'

export const rolloutWorkflowType = 'rollout'

export function rolloutWorkflowId(rolloutUuid: string): string {
  return entityWorkflowId(rolloutWorkflowType, rolloutUuid)
}

/** The row has changed: look at it now. If it is lost, the next look comes by itself. */
export const lookAgainSignal = defineSignal('lookAgain')
