import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { runInstance, viewOf, waitFor } from '../support/instances.ts'
import { signalAll, stopFamily, virtualMachinesOf } from '../support/processes.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { prepareTrial } from './trial.ts'

const outageMs = 8_000

/**
 * Halts a part and all processes that it started, and lets them continue after the work. To the other parts
 * it looks like a machine that swaps, or like a machine behind a cut cable.
 */
async function during(stack: Stack, part: string, work: () => Promise<void>): Promise<void> {
  const family = stopFamily(stack.pidOf(part))
  try {
    await work()
  } finally {
    signalAll(family, 'SIGCONT')
  }
}

describe('a service that is away for a while', () => {
  let stack: Stack
  before(async () => {
    stack = await sharedStack()
  })

  for (const part of ['temporal', 'postgres']) {
    it(`delays what was asked meanwhile and loses nothing: ${part}`, async () => {
      const trial = await prepareTrial(stack, `away-${part}`)
      let asked: Promise<void> | undefined
      await during(stack, part, async () => {
        asked = trial.ask()
        asked.catch(() => undefined)
        await delay(outageMs)
      })
      await asked
      await trial.verify()
    })
  }

  it('leaves reads, creates and deletes working while Temporal is away', async () => {
    const { uuid } = await runInstance(stack.api, { name: 'while-away', image: 'busybox' })
    let createdUuid = ''
    await during(stack, 'temporal', async () => {
      assert.equal((await viewOf(stack.api, uuid)).state, 'running')
      const created = await stack.api.one('createInstances', {
        body: { name: 'made-while-away', image: 'busybox', autostart: true },
      })
      createdUuid = created.uuid
      const deleted = await stack.api.one('deleteInstances', { object: uuid })
      assert.equal(deleted.previous_state, 'running')
    })
    const view = await waitFor(stack.api, createdUuid, 'running')
    assert.equal(view.start_count, 1)
    await until('the deleted VM is gone', () => virtualMachinesOf(uuid).length === 0, { limitMs: 60_000 })
    await stack.api.one('deleteInstances', { object: createdUuid })
  })
})

describe('an application that ends while no agent looks', () => {
  it('is reported once, with its true reason, by the next agent', async () => {
    const stack = await sharedStack()
    const { uuid } = await runInstance(stack.api, {
      name: 'ends-unseen',
      image: 'busybox',
      args: ['sh', '-c', 'sleep 4; exit 7'],
    })
    process.kill(stack.pidOf('agent'), 'SIGSTOP')
    try {
      await until('its VM is gone', () => virtualMachinesOf(uuid).length === 0, { limitMs: 30_000 })
    } finally {
      // This also runs after a failure: the tests that follow need an agent that is not halted.
      await stack.killPart('agent')
    }
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(view.stop_reason, 3)
    assert.equal(view.exit_code, 7)
    assert.equal(view.start_count, 1)
    await stack.api.one('deleteInstances', { object: uuid })
  })
})
