import { defineSignal } from '@temporalio/workflow'

/** The messages that the workflow of every entity takes. */

export function entityWorkflowId(type: string, uuid: string): string {
  return `${type}/${uuid}`
}

/** The row is marked deleted before this is sent. If it is lost, the sweep sends it again. */
export const deleteSignal = defineSignal('delete')
/**
 * Asks for continue-as-new at the next idle point. So a code patch has to stay for days and not for years.
 */
export const refreshSignal = defineSignal('refresh')
/**
 * The name of the query for the whole life, for people and tests. Readers of the API are answered from
 * PostgreSQL.
 */
export const lifeQueryName = 'life'
