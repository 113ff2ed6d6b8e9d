import { defineSignal } from '@temporalio/workflow'

/** The messages that the workflow of every entity takes. */

export function entityWorkflowId(type: string, uuid: string): string {
  return `${type}/${uuid}`
}

/** The row is marked deleted before this is sent. If it is lost, the sweep sends it again. */
export const deleteSignal = defineSignal('delete')
/**
 * Asks the workflow to continue as new as soon as nothing is under way. The new run does not need the
 * patches for runs of older code. So a patch has to stay in the code for days only, and not for years.
 */
export const refreshSignal = defineSignal('refresh')
/**
 * The name of the query for the whole life. Only people and tests use it; the API answers its readers from
 * PostgreSQL.
 */
export const lifeQueryName = 'life'
