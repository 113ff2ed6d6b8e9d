import { defineSignal } from '@temporalio/workflow'
import { entityWorkflowId } from '../entity-messages.ts'

export const hostWorkflowType = 'host'

export function hostWorkflowId(hostId: string): string {
  return entityWorkflowId(hostWorkflowType, hostId)
}

/** The row has changed: look at it now. If it is lost, the next look comes by itself. */
export const lookAtHostSignal = defineSignal('lookAgain')
