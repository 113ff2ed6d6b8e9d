import assert from 'node:assert/strict'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'
import { beginRun, endRun } from '../../../src/db/schedule/runs.ts'

describe('the commands about schedules', () => {
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  before(async () => {
    api = await startTestApi()
  })
  beforeEach(async () => {
    user = await api.addUser()
    roost = await createRoostProgram({ url: api.url, token: user.token })
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  async function done(...args: readonly string[]): Promise<string> {
    const ended = await roost.run(['schedule', ...args])
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.err}`)
    return ended.out
  }

  it('create a run of an image, with its arguments after --', async () => {
    const when = ['--cron', '0 3 * * *', '--time-zone', 'Europe/Berlin']
    const what = ['--run', 'hello', '-e', 'A=1', '-m', '256M', '--timeout', '60', '--', '--full']
    assert.equal(await done('create', 'nightly', ...when, ...what), 'nightly is created\n')
    const { action, time_zone: zone } = await user.api.one('getSchedules', { object: 'nightly' })
    assert.equal(zone, 'Europe/Berlin')
    assert.partialDeepStrictEqual(action, {
      run: { args: ['--full'], env: { A: '1' }, memory_mb: 256, timeout_s: 60 },
    })
  })

  it('create, change, pause, resume, list and delete', async () => {
    await done('create', 'morning', '--cron', '@daily', '--start', 'web', '--start', 'db')
    assert.match(await done('ls'), /\nmorning +@daily +UTC +start web,db +\S+Z/)
    assert.equal(
      await done('set', 'morning', '--cron', '@hourly', '--stop', 'web'),
      'morning: cron, action changed\n',
    )
    assert.equal(await done('set', 'morning', '--cron', '@hourly'), 'morning is so already\n')
    assert.equal(await done('pause', 'morning'), 'morning is paused\n')
    assert.match(await done('ls'), /stop web +paused/)
    assert.equal(await done('resume', 'morning'), 'morning is resumed\n')
    await done('set', 'morning', '--rollout', 'shop', '--image', 'hello', '-e', 'A=2')
    assert.match(await done('ls'), /roll out shop/)
    assert.equal(JSON.parse(await done('inspect', 'morning')).cron, '@hourly')
    assert.match(await done('explain', 'morning'), /^morning rolls out shop of .*hello at '@hourly' in UTC/)
    assert.equal(await done('rm', 'morning'), 'morning is deleted\n')
  })

  it('run one now, and show its runs and what the newest printed', async () => {
    await done('create', 'nightly', '--cron', '@daily', '--run', 'hello')
    assert.match(await done('run', 'nightly'), /^nightly runs; /)
    const { uuid } = await user.api.one('getSchedules', { object: 'nightly' })
    const begun = await beginRun(api.database, { scheduleUuid: uuid, runKey: 'a', scheduledAtMs: 0 })
    const end = { result: 'failed', reason: 'it ended with exit code 2', exitCode: 2, logTail: 'oh' } as const
    await endRun(api.database, begun!.run, { end, keptRuns: 50 })
    assert.match(await done('runs', 'nightly'), /failed +2 +it ended with exit code 2/)
    assert.equal(await done('runs', 'nightly', '--log'), 'oh\n')
  })

  it('say what is missing', async () => {
    for (const [args, message] of [
      [['--cron', '@daily'], /say what it does: --start, --stop, --run or --rollout/],
      [['--cron', '@daily', '--start', 'a', '--stop', 'b'], /only one of/],
      [['--cron', '@daily', '--start', 'a', '-m', '1G'], /needs --run/],
      [['--cron', 'often', '--start', 'a'], /Invalid cron expression 'often'/],
    ] as const) {
      const ended = await roost.run(['schedule', 'create', 'x', ...args])
      assert.notEqual(ended.code, 0)
      assert.match(ended.err, message)
    }
  })
})
