import assert from 'node:assert/strict'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { publishVersion, untilPhase, version } from '../support/versioned-service.ts'

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

  it('roll out a service', async () => {
    const { service } = await publishVersion(stack, 'timed')
    const rollout = { service: 'timed', add: { env: version.good('two') }, bake_s: 1, keep_s: 0 }
    await stack.api.one('createSchedules', { body: { name: 'weekly', cron: '@yearly', action: { rollout } } })
    await stack.api.one('triggerSchedules', { object: 'weekly' })
    const { result, reason } = await ended('weekly')
    assert.deepEqual([result, reason], ['succeeded', 'the new version serves'])
    await untilPhase(stack, service, 'done')
    const { env, uuid } = await stack.api.one('getInstances', { object: 'timed' })
    assert.deepEqual(env, version.good('two'))
    await stack.api.one('deleteInstances', { object: uuid })
    await stack.api.one('deleteSchedules', { object: 'weekly' })
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
