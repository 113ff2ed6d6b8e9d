import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { AutoscaleLife } from '../../src/domain/autoscale/life.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** The messages to the workflow `autoscale/<service uuid>`, beside those that every entity takes. */

export const autoscaleWorkflowType = 'autoscale'

export function autoscaleWorkflowId(serviceUuid: string): string {
  return entityWorkflowId(autoscaleWorkflowType, serviceUuid)
}

/**
 * The service was configured, for the first time or again. The life begins anew, and the activities read the
 * new configuration from the row.
 */
export const configuredSignal = defineSignal('configured')
export const autoscaleLifeQuery = defineQuery<AutoscaleLife>(lifeQueryName)
