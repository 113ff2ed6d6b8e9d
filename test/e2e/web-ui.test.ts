import assert from 'node:assert/strict'
import { runInstance } from '../support/instances.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'

interface Payload {
  readonly data: string
}

describe("an instance in Temporal's Web UI", () => {
  let stack: Stack
  let uuid: string
  before(async () => {
    stack = await sharedStack()
    uuid = (await runInstance(stack.api, { name: 'visible', image: 'busybox' })).uuid
  })
  after(() => stack.api.one('deleteInstances', { object: uuid }))

  const workflowUrl = () =>
    `${stack.temporalUiUrl}/api/v1/namespaces/roost/workflows/${encodeURIComponent(`instance/${uuid}`)}`

  it('is a running workflow that can be found by its state, user and node', async () => {
    const answer = await fetch(workflowUrl())
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    const { workflowExecutionInfo: info } = JSON.parse(text) as {
      workflowExecutionInfo: {
        status: string
        searchAttributes: { indexedFields: Record<string, Payload> }
      }
    }
    assert.equal(info.status, 'WORKFLOW_EXECUTION_STATUS_RUNNING')
    const values = Object.values(info.searchAttributes.indexedFields).map(decoded)
    for (const expected of ['running', 'local']) {
      assert.ok(
        JSON.stringify(values).includes(`"${expected}"`),
        `${expected} is not among ${JSON.stringify(values)}`,
      )
    }
  })

  it('says its name, what state it is in and why', async () => {
    const first = await fetch(`${stack.temporalUiUrl}/api/v1/settings`)
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
    const answer = await fetch(`${workflowUrl()}/query/__temporal_workflow_metadata`, {
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
    assert.match(metadata.currentDetails ?? '', /^visible: \*\*running\*\* since .*started once/s)
  })
})

function decoded(payload: Payload | undefined): unknown {
  return JSON.parse(Buffer.from(payload?.data ?? '', 'base64').toString('utf8'))
}
