import { strict as assert } from 'node:assert'
import { openScheduleEnv } from '../../../src/db/schedule/row.ts'
import { findSchedules } from '../../../src/db/schedule/schedules.ts'
import { beginRun, endRun } from '../../../src/db/schedule/runs.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { fakeDigest, startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

const nowMs = Date.parse('2026-11-27T12:00:00Z')
const run = { run: { image: 'hello', args: ['--full'], env: { A: '1' } } }

describe('schedules', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi({ nowMs: () => nowMs })
  })
  after(() => api.close())
  beforeEach(async () => {
    delete api.scheduleControl.faults.isAway
    api.scheduleControl.calls.length = 0
    api.scheduleControl.schedules.clear()
    user = await api.addUser()
  })

  const create = (body: object) =>
    user.api.one('createSchedules', { body: { name: 'nightly', cron: '0 3 * * *', action: run, ...body } })
  const refused = async (body: object, method = 'POST', path = '/v1/schedules') => {
    const sent = method === 'POST' ? { cron: '@daily', action: run, ...body } : body
    const answer = await api.send({ method, path, token: user.token, body: sent })
    assert.equal(answer.json.status, 'error', answer.text)
    return answer.json as { readonly message: string; readonly errors?: readonly { error: number }[] }
  }
  const view = (object = 'nightly') => user.api.one('getSchedules', { object })
  const messagesOf = ({ entries }: { readonly entries: readonly object[] }) =>
    entries.flatMap((entry) => ('message' in entry ? [String(entry.message)] : []))
  const applied = () => [...api.scheduleControl.schedules.values()]

  /** Writes a run that has ended, as the worker does. */
  async function ran(uuid: string, runKey: string, result: 'succeeded' | 'failed'): Promise<void> {
    const begun = await beginRun(api.database, { scheduleUuid: uuid, runKey, scheduledAtMs: nowMs })
    const end = { result, reason: `it ${result}`, exitCode: 0, logTail: `log of ${runKey}` }
    await endRun(api.database, begun!.run, { end, keptRuns: 50 })
  }

  it('show what they do, with all defaults, and when they run next', async () => {
    const { uuid } = await create({ time_zone: 'Europe/Berlin' })
    const { created_at, ...seen } = await view()
    assert.match(created_at ?? '', /Z$/)
    assert.deepEqual(seen, {
      status: 'success',
      uuid,
      name: 'nightly',
      cron: '0 3 * * *',
      time_zone: 'Europe/Berlin',
      paused: false,
      catch_up_s: 60,
      overlap: 'skip',
      action: {
        run: {
          image: `hello@${fakeDigest}`,
          args: ['--full'],
          env: { A: '1' },
          memory_mb: 128,
          vcpus: 1,
          volumes: [],
          timeout_s: 3600,
        },
      },
      next_runs: ['2026-11-28T02:00:00Z', '2026-11-29T02:00:00Z', '2026-11-30T02:00:00Z'],
    })
  })

  it('start and stop instances by name', async () => {
    await create({ name: 'up', action: { start: { instances: ['WEB', 'db'] } } })
    assert.deepEqual((await view('up')).action, { start: { instances: ['web', 'db'] } })
    await create({ name: 'down', action: { stop: { instances: ['web'], drain_timeout_ms: -1 } } })
    assert.deepEqual((await view('down')).action, {
      stop: { instances: ['web'], drain_timeout_ms: 3_600_000 },
    })
  })

  it('roll a service out, with the image that its tag has now', async () => {
    const rollout = {
      service: 'SHOP',
      image: 'hello',
      args: '--full',
      add: { env: { SECRET: 'hidden' } },
      canary: [10, 100],
      check: { path: '/ready' },
    }
    await create({ name: 'weekly', action: { rollout } })
    assert.deepEqual((await view('weekly')).action, {
      rollout: {
        service: 'shop',
        image: `hello@${fakeDigest}`,
        args: ['--full'],
        add: { env: { SECRET: 'hidden' } },
        canary: [10, 100],
        bake_s: 30,
        check: { path: '/ready', times: 1, interval_ms: 1_000, timeout_ms: 2_000, limit_s: 120 },
        max_error_percent: 5,
        keep_s: 3_600,
        supersede: false,
      },
    })
    assert.ok(!JSON.stringify(applied()).includes('hidden'))
  })

  it("are Temporal's at once, with no word of what they do", async () => {
    const { uuid } = await create({ action: { run: { image: 'hello', env: { SECRET: 'hidden' } } } })
    assert.deepEqual(applied(), [
      {
        scheduleUuid: uuid,
        name: 'nightly',
        userUuid: user.uuid,
        cron: '0 3 * * *',
        timeZone: 'UTC',
        paused: false,
        catchUpS: 60,
        overlap: 'skip',
        version: 1,
      },
    ])
    const [row] = await findSchedules(api.database, user.uuid, [{ uuid }])
    assert.deepEqual(openScheduleEnv(testSecretBox, row!), { SECRET: 'hidden' })
    assert.ok(!api.logLines.some((line) => line.includes('hidden')))
  })

  for (const [body, message] of [
    [
      { cron: '61 * * * *' },
      /^Invalid cron expression '61 \* \* \* \*': '61' is not valid for the field 'minute'/,
    ],
    [{ cron: '@sometimes' }, /'@sometimes' is not one of @yearly/],
    [{ time_zone: 'Mars/Olympus' }, /^Invalid time zone 'Mars\/Olympus'/],
    [{ overlap: 'never' }, /'never' is not a valid .*'overlap'/],
    [{ catch_up_s: 1 }, /'catch_up_s' must be in the range 10 to/],
    [{ action: {} }, /needs exactly one of 'start', 'stop', 'run' and 'rollout', but 0 are given/],
    [{ action: { ...run, start: { instances: ['web'] } } }, /but 2 are given/],
    [{ action: { start: { instances: [] } } }, /Value of 'instances' in start description is too short/],
    [{ action: { start: { instances: ['-'] } } }, /Invalid name '-'/],
    [{ action: { run: { image: 'hello', memory_mb: 1 } } }, /'memory_mb' must be in the range/],
    [
      { action: { run: { image: 'hello', timeout_s: 0 } } },
      /Value of 'timeout_s' in run description must be in the range 1 to 86400/,
    ],
    [{ action: { run: { image: 'hello', volumes: [{ at: '/data' }] } } }, /volume description/],
    [{ action: { run: { image: 'hello', replicas: 2 } } }, /Unknown parameter 'action.run.replicas'/],
    [{ action: { run: { image: 'no:such:image' } } }, /Invalid image/],
  ] as const) {
    it(`are refused if they are ${JSON.stringify(body)}`, async () => {
      assert.match((await refused(body)).message, message)
    })
  }

  it('are refused for an image that there is not, and beyond the limit of an account', async () => {
    const missing = await user.api.attempt('createSchedules', {
      body: { cron: '@daily', action: { run: { image: 'nothing' } } },
    })
    assert.match(messagesOf(missing)[0] ?? '', /^No image 'nothing'/)
    const bodies = Array.from({ length: 33 }, (_, index) => ({
      name: `s${index}`,
      cron: '@daily',
      action: { start: { instances: ['web'] } },
    }))
    const answer = await user.api.attempt('createSchedules', { body: bodies })
    assert.deepEqual(messagesOf(answer), [
      'Too many schedules: at most 32 per account; delete one that is not needed',
    ])
  })

  it('are made and changed also while Temporal is away; the log says that the sweep mends it', async () => {
    api.scheduleControl.faults.isAway = true
    const { uuid } = await create({})
    await user.api.one('updateSchedules', { object: 'nightly', body: { paused: true } })
    assert.ok(api.logLines.some((line) => line.includes('the sweep will bring') && line.includes(uuid)))
    const [row] = await findSchedules(api.database, user.uuid, [{ uuid }])
    assert.deepEqual([row?.version, row?.toldVersion], [2, 0])
  })

  it('change, in both forms, and what is cleared gets its default', async () => {
    const { uuid } = await create({ overlap: 'queue', catch_up_s: 600 })
    const changed = await user.api.one('updateSchedules', {
      object: 'nightly',
      body: { id: 'x', cron: '@hourly', paused: true, clear: ['overlap'] },
    })
    assert.deepEqual(changed, {
      status: 'success',
      uuid,
      name: 'nightly',
      id: 'x',
      changed: ['cron', 'paused', 'overlap'],
    })
    await user.api.call('updateSchedules', {
      body: [
        { name: 'nightly', prop: 'catch_up_s', op: 'set', value: 30 },
        { name: 'nightly', prop: 'paused', op: 'set' },
      ],
    })
    assert.partialDeepStrictEqual(await view(), {
      cron: '@hourly',
      paused: false,
      overlap: 'skip',
      catch_up_s: 30,
    })
    assert.partialDeepStrictEqual(applied(), [{ cron: '@hourly', paused: false, catchUpS: 30, version: 4 }])
  })

  it('get another action as a whole, of which Temporal does not hear', async () => {
    await create({})
    api.scheduleControl.calls.length = 0
    const action = { run: { image: 'hello', memory_mb: 256 } }
    const { changed } = await user.api.one('updateSchedules', { object: 'nightly', body: { action } })
    assert.deepEqual(changed, ['action'])
    const seen = (await view()).action?.run
    assert.deepEqual([seen?.memory_mb, seen?.env, seen?.args], [256, {}, undefined])
    assert.deepEqual(api.scheduleControl.calls, [])
  })

  it('refuse changes that make no sense', async () => {
    await create({})
    const change = (body: object) => refused({ name: 'nightly', ...body }, 'PATCH')
    assert.match((await change({ cron: '* *' })).message, /but there are 2/)
    assert.match((await change({ prop: 'cron', op: 'set' })).message, /Missing 'value'/)
    assert.match((await change({ clear: ['paused'], paused: true })).message, /cannot be given together/)
    assert.match((await change({ action: {} })).message, /exactly one of/)
  })

  it('run by hand, also if they are paused', async () => {
    await create({ paused: true })
    await user.api.one('triggerSchedules', { object: 'nightly' })
    assert.deepEqual(api.scheduleControl.calls.at(-1), 'trigger')
    api.scheduleControl.faults.isAway = true
    const answer = await user.api.attempt('triggerSchedules', { object: 'nightly' })
    assert.match(messagesOf(answer)[0] ?? '', /the control plane does not answer$/)
  })

  it('do not run by hand while a run is under way that the policy keeps alone', async () => {
    const { uuid } = await create({})
    await beginRun(api.database, { scheduleUuid: uuid, runKey: 'a', scheduledAtMs: nowMs })
    const trigger = () => user.api.attempt('triggerSchedules', { object: 'nightly' })
    assert.match(messagesOf(await trigger())[0] ?? '', /^A run of schedule 'nightly' is under way/)
    await user.api.one('updateSchedules', { object: 'nightly', body: { overlap: 'queue' } })
    assert.equal((await trigger()).status, 'success')
  })

  it('show their last runs, the newest first, with their logs if that is asked for', async () => {
    const { uuid } = await create({})
    for (const key of ['a', 'b', 'c']) await ran(uuid, key, 'succeeded')
    const { runs } = await user.api.one('getScheduleRuns', {
      object: 'nightly',
      query: { limit: '2', log: 'true' },
    })
    assert.deepEqual(
      runs.map(({ log, result, exit_code: code }) => [log, result, code]),
      [
        ['log of c', 'succeeded', 0],
        ['log of b', 'succeeded', 0],
      ],
    )
    const plain = await user.api.one('getScheduleRuns', { object: 'nightly' })
    assert.equal(plain.runs.length, 3)
    assert.ok(plain.runs.every(({ log }) => log === undefined))
    assert.partialDeepStrictEqual((await view()).last_run, {
      scheduled_at: '2026-11-27T12:00:00Z',
      reason: 'it succeeded',
    })
  })

  it('are explained: what they do, what the last run did, when they run next', async () => {
    const { uuid } = await create({})
    await ran(uuid, 'a', 'failed')
    const explained = await user.api.one('explainSchedules', { object: 'nightly' })
    assert.match(
      explained.now,
      /^nightly runs official\/hello to its end at '0 3 \* \* \*' in UTC; its last run failed at .*\.$/,
    )
    assert.equal(explained.next, 'it runs at 2026-11-28T03:00:00.000Z')
    assert.equal(explained.failure, 'it failed')
    assert.ok(explained.text.includes('the last try failed: it failed'))
  })

  it('are listed in pages and by filters, and only to their user', async () => {
    await create({ name: 'a' })
    await create({ name: 'b', paused: true })
    const names = async (query: object) =>
      (await user.api.call('listSchedules', { query: query as never })).map(({ name }) => name)
    assert.deepEqual(await names({}), ['a', 'b'])
    assert.deepEqual(await names({ paused: true }), ['b'])
    assert.deepEqual(await names({ count: 1 }), ['a'])
    const other = await api.addUser()
    assert.deepEqual(await other.api.call('getSchedules'), [])
    assert.equal((await other.api.attempt('getSchedules', { object: 'a' })).status, 'error')
    assert.deepEqual((await view('b')).next_runs, [])
  })

  it('are deleted with what their runs made, and their names are free then', async () => {
    const { uuid } = await create({})
    await ran(uuid, 'a', 'succeeded')
    await user.api.one('deleteSchedules', { object: 'nightly' })
    assert.deepEqual(applied(), [])
    assert.equal((await user.api.attempt('getSchedules', { object: 'nightly' })).status, 'error')
    const left = await api.database.db.selectFrom('scheduleRuns').selectAll().execute()
    assert.deepEqual(
      left.filter((row) => row.scheduleUuid === uuid),
      [],
    )
    assert.notEqual((await create({})).uuid, uuid)
  })

  it('are deleted by the sweep if Temporal is away, and gone for readers at once', async () => {
    await create({})
    api.scheduleControl.faults.isAway = true
    await user.api.one('deleteSchedules', { object: 'nightly' })
    assert.deepEqual(await user.api.call('getSchedules'), [])
    assert.ok(api.logLines.some((line) => line.includes('remove what is left of the schedule')))
  })
})
