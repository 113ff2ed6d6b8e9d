import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { AutoscaleLife } from '../../src/domain/autoscale/life.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** What the world says to `autoscale/<service uuid>`, beside what it says to every entity. */
export const autoscaleWorkflowType = 'autoscale'

export function autoscaleWorkflowId(serviceUuid: string): string {
  return entityWorkflowId(autoscaleWorkflowType, serviceUuid)
}

/** The configuration was written again while the one before it was on its way out: look at the row anew. */
export const configuredSignal = defineSignal('configured')
export const autoscaleLifeQuery = defineQuery<AutoscaleLife>(lifeQueryName)
