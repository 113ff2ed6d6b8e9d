import { defineSignal } from '@temporalio/workflow'

/** What the world says to the workflow of anything that has one for as long as it exists. */

export function entityWorkflowId(type: string, uuid: string): string {
  return `${type}/${uuid}`
}

/** The row is marked deleted before this is sent; losing it is mended by the sweep. */
export const deleteSignal = defineSignal('delete')
/** Continue-as-new at the next idle point, so that a code patch lives for days and not for years. */
export const refreshSignal = defineSignal('refresh')
/** All that is known of a life, for people and tests; readers of the API are answered from PostgreSQL. */
export const lifeQueryName = 'life'
