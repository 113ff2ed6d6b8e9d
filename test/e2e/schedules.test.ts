import assert from 'node:assert/strict'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

/** A run may have to wait for its image, and for a machine that is busy. */
const limitMs = 150_000

describe('the schedules of a stack', function () {
  let stack: Stack
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
  })

  const ended = (object: string) =>
    until(
      `a run of ${object} has ended`,
      async () => {
        const query = { log: 'true' }
        const { runs } = await stack.api.one('getScheduleRuns', { object, query })
        return runs.find(({ result }) => result !== 'running')
      },
      { limitMs },
    )

  it('run an image to its end, keep its exit code and its log, and leave no instance', async () => {
    const body = {
      name: 'once',
      cron: '@yearly',
      action: { run: { image: 'busybox', args: ['sh', '-c', 'echo backed up $A; exit 3'], env: { A: '7' } } },
    }
    await stack.api.one('createSchedules', { body })
    await stack.api.one('triggerSchedules', { object: 'once' })
    const run = await ended('once')
    assert.ok(run.instance !== undefined, JSON.stringify(run))
    assert.match(run.instance.name, /^once-/)
    assert.deepEqual([run.result, run.exit_code], ['failed', 3], JSON.stringify(run))
    assert.match(run.log ?? '', /backed up 7/)
    const left = await stack.api.call('listInstances')
    assert.deepEqual(
      left.filter(({ name }) => name.startsWith('once-')),
      [],
    )
    await stack.api.one('deleteSchedules', { object: 'once' })
  })

  it('run at their times by themselves', async () => {
    const body = { name: 'minutely', cron: '* * * * *', action: { start: { instances: ['nobody'] } } }
    await stack.api.one('createSchedules', { body })
    const run = await ended('minutely')
    assert.equal(new Date(run.scheduled_at).getUTCSeconds(), 0)
    assert.deepEqual([run.result, run.reason], ['failed', 'nobody: there is no such instance'])
    await stack.api.one('deleteSchedules', { object: 'minutely' })
  })
})
