import assert from 'node:assert/strict'
import { runInstance } from '../support/instances.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { currentDetailsOf, describeWorkflow } from '../support/web-ui.ts'

describe("an instance in Temporal's Web UI", () => {
  let stack: Stack
  let uuid: string
  before(async () => {
    stack = await sharedStack()
    uuid = (await runInstance(stack.api, { name: 'visible', image: 'busybox' })).uuid
  })
  after(() => stack.api.one('deleteInstances', { object: uuid }))

  it('is a running workflow that can be found by its state, user and node', async () => {
    // The search attributes are written with the workflow's next task, a moment after its state.
    await until(
      'its attributes say that it runs, and where',
      async () => {
        const { status, attributes } = await describeWorkflow(stack, uuid)
        assert.equal(status, 'WORKFLOW_EXECUTION_STATUS_RUNNING')
        return attributes.includes('running') && attributes.includes('local')
      },
      { limitMs: 30_000 },
    )
  })

  it('says its name, what state it is in and why', async () => {
    assert.match(await currentDetailsOf(stack, uuid), /^visible: \*\*running\*\* since .*started once/s)
  })
})
