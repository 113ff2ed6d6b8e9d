import assert from 'node:assert/strict'
import { logOf, runInstance, viewOf, waitFor } from '../support/instances.ts'
import { processesOf, virtualMachinesOf } from '../support/processes.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const stopPromiseMs = 10_000

describe('Ctrl-C and the next start', () => {
  let stack: Stack
  before(async () => {
    stack = await startStack()
    await runInstance(stack.api, { name: 'stays', image: 'hello' })
    await runInstance(stack.api, { name: 'rests', image: 'hello' })
    await stack.api.one('stopInstances', { object: 'rests' })
    await waitFor(stack.api, 'rests', 'stopped')
    await until('it listens', async () => (await logOf(stack.api, 'stays')).includes('listening'), {
      limitMs: 30_000,
    })
  })
  after(() => stack?.remove())

  it('end within 10 s without a process left behind', async () => {
    const tookMs = await stack.interrupt()
    assert.ok(tookMs < stopPromiseMs, `stopping took ${Math.round(tookMs)} ms`)
    assert.deepEqual(processesOf(stack.dataDir), [])
  })

  it('bring back all state and run again what ran, as a start by the platform and not as a restart', async () => {
    await stack.startAgain()
    // The row may still describe the VM of the earlier run.
    const stays = await until(
      'it runs again',
      async () => {
        const seen = await viewOf(stack.api, 'stays')
        return seen.state === 'running' && seen.start_count !== 1 && seen
      },
      { limitMs: 60_000 },
    )
    assert.equal(stays.start_count, 2)
    assert.equal(stays.restart_count, 0)
    assert.equal(virtualMachinesOf(stays.uuid).length, 1)
    assert.ok((await logOf(stack.api, 'stays')).includes('listening on 8080'))
    const rests = await viewOf(stack.api, 'rests')
    assert.equal(rests.state, 'stopped')
    assert.equal(rests.stop_reason, 15)
    assert.equal(rests.start_count, 1)
  })
})
