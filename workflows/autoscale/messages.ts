import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { AutoscaleLife } from '../../src/domain/autoscale/life.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** The messages to `autoscale/<service uuid>`, in addition to those that every entity takes. */
export const autoscaleWorkflowType = 'autoscale'

export function autoscaleWorkflowId(serviceUuid: string): string {
  return entityWorkflowId(autoscaleWorkflowType, serviceUuid)
}

/** The service was configured again while its earlier configuration was being closed: read the row again. */
export const configuredSignal = defineSignal('configured')
export const autoscaleLifeQuery = defineQuery<AutoscaleLife>(lifeQueryName)
