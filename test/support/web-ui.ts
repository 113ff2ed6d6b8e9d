import assert from 'node:assert/strict'
import type { Stack } from './stack.ts'

/**
 * This file reads what Temporal's Web UI shows of a workflow. It asks the UI's server as the UI's pages do.
 */
interface Payload {
  readonly data: string
}

export interface WorkflowDescription {
  readonly status: string
  /** The values of the workflow's search attributes. */
  readonly attributes: readonly unknown[]
}

/** The description of an instance's workflow. */
export async function describeWorkflow(stack: Stack, uuid: string): Promise<WorkflowDescription> {
  const answer = await fetch(workflowUrl(stack, instanceWorkflow(uuid)))
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  const { workflowExecutionInfo: info } = JSON.parse(text) as {
    workflowExecutionInfo: {
      status: string
      searchAttributes: { indexedFields: Record<string, Payload> }
    }
  }
  return {
    status: info.status,
    attributes: Object.values(info.searchAttributes.indexedFields).map(decoded),
  }
}

/** The text on top of an instance's page: the state, why, and what comes next. */
export function currentDetailsOf(stack: Stack, uuid: string): Promise<string> {
  return detailsOfWorkflow(stack, instanceWorkflow(uuid))
}

/** The text on top of a workflow's page. */
export async function detailsOfWorkflow(stack: Stack, workflowId: string): Promise<string> {
  const first = await fetch(`${stack.temporalUiUrl}/api/v1/settings`)
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
  const answer = await fetch(`${workflowUrl(stack, workflowId)}/query/__temporal_workflow_metadata`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie,
      'x-csrf-token': cookie.split('=').slice(1).join('='),
    },
    body: JSON.stringify({ query: { queryType: '__temporal_workflow_metadata' } }),
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  const { queryResult } = JSON.parse(text) as { queryResult: { payloads: readonly Payload[] } }
  const metadata = decoded(queryResult.payloads[0]) as { currentDetails?: string }
  return metadata.currentDetails ?? ''
}

function instanceWorkflow(uuid: string): string {
  return `instance/${uuid}`
}

function workflowUrl(stack: Stack, workflowId: string): string {
  return `${stack.temporalUiUrl}/api/v1/namespaces/roost/workflows/${encodeURIComponent(workflowId)}`
}

function decoded(payload: Payload | undefined): unknown {
  return JSON.parse(Buffer.from(payload?.data ?? '', 'base64').toString('utf8'))
}
