import { strict as assert } from 'node:assert'
import { ScheduleNotFoundError } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { ScheduleControl } from '../../../src/control/schedule-control.ts'
import { createScheduleControl } from '../../../src/control/temporal-schedule-control.ts'
import { findByUuids } from '../../../src/db/instance/instances.ts'
import { scheduleSettings } from '../../../src/db/schedule/row.ts'
import type { ScheduleRow } from '../../../src/db/schedule/row.ts'
import { listRuns } from '../../../src/db/schedule/runs.ts'
import type { RunRow } from '../../../src/db/schedule/runs.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { parseCron } from '../../../src/domain/schedule/cron.ts'
import { nextOccurrences } from '../../../src/domain/schedule/occurrences.ts'
import { OverlapPolicy } from '../../../src/domain/schedule/overlap.ts'
import { scheduleId, scheduleRunId } from '../../../workflows/schedule/messages.ts'
import { scheduleRows } from '../../support/schedule-rows.ts'
import { runWorkers, startDevServer } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'

const noUuid = '00000000-0000-0000-0000-000000000000'
const soon = { limitMs: 60_000 }

describe('a schedule in Temporal', () => {
  const rows = scheduleRows()
  const { add, newUser, control, scene } = rows
  let env: TestWorkflowEnvironment
  let workers: RunningWorkers
  let schedules: ScheduleControl
  before(async () => {
    env = await startDevServer()
    schedules = createScheduleControl(env.client)
  })
  after(() => env.teardown())
  beforeEach(async () => {
    workers = await runWorkers(env, { control: rows.activities() })
  })
  afterEach(() => workers.stop())

  const describing = ({ uuid }: ScheduleRow) => env.client.schedule.getHandle(scheduleId(uuid)).describe()
  const runsOf = ({ uuid }: ScheduleRow) => listRuns(rows.database(), uuid, 50)
  const trigger = (row: ScheduleRow) => schedules.trigger(scheduleSettings(row))
  const firstRun = (row: ScheduleRow, fits: (run: RunRow) => boolean) =>
    until('the run is as it should be', async () => (await runsOf(row)).find(fits), soon)
  const endedRun = (row: ScheduleRow) => firstRun(row, ({ result }) => result !== 'running')

  /** The run once its instance runs, so that nothing else records a state of the instance any more. */
  const runningRun = (row: ScheduleRow, other?: RunRow) =>
    until(
      'the instance of a run is running',
      async () => {
        const run = (await runsOf(row)).find(({ uuid }) => uuid !== other?.uuid)
        const [instance] = await findByUuids(rows.database(), [run?.instanceUuid ?? noUuid])
        return instance?.state === InstanceState.Running && run
      },
      soon,
    )

  for (const [cron, timeZone] of [
    ['*/7 * * * *', 'UTC'],
    ['0 3 * * 1-5', 'America/New_York'],
    ['15 4 13 * fri', 'Asia/Kolkata'],
    // The clock goes forward and back over these times on some of these days.
    ['30 2 25-31 3 *', 'Europe/Berlin'],
    ['30 2 25-31 10 *', 'Europe/Berlin'],
    ['*/30 0-3 28 3 *', 'Europe/London'],
    ['0 0 29 2 *', 'UTC'],
  ] as const) {
    it(`runs at the times that readers are told: '${cron}' in ${timeZone}`, async () => {
      const row = await add(await newUser(), { cron, timeZone })
      await schedules.apply(scheduleSettings(row))
      const { info } = await describing(row)
      const theirs = info.nextActionTimes.map((time) => time.getTime())
      const read = parseCron(cron)
      assert.ok(read.ok && theirs.length > 1)
      const count = theirs.length
      const ours = nextOccurrences(read.cron, { timeZone, afterMs: theirs[0]! - 1, count })
      assert.deepEqual(
        theirs.map((time) => new Date(time).toISOString()),
        ours.map((time) => new Date(time).toISOString()),
      )
    })
  }

  it('takes the policies of the row, and no older version of it', async () => {
    const row = await add(await newUser(), { overlap: OverlapPolicy.Queue, catchUpS: 600 })
    await schedules.apply({ ...scheduleSettings(row), version: 2, paused: true })
    await schedules.apply(scheduleSettings(row))
    const { policies, state } = await describing(row)
    assert.deepEqual([policies.overlap, policies.catchupWindow, state.paused], ['BUFFER_ONE', 600_000, true])
    await schedules.apply({ ...scheduleSettings(row), version: 3, overlap: OverlapPolicy.Allow })
    const changed = await describing(row)
    assert.deepEqual([changed.policies.overlap, changed.state.paused], ['ALLOW_ALL', false])
  })

  it('runs at once when it is triggered, also if Temporal did not have it, and knows no secret', async () => {
    const row = await add(await newUser(), { env: { SECRET: 'hidden-value' } })
    scene.printed = 'done'
    control().faults.endsAtOnce = true
    await trigger(row)
    const run = await endedRun(row)
    assert.partialDeepStrictEqual(run, { result: 'succeeded', exitCode: 0, logTail: 'done' })
    assert.ok(Math.abs(run.scheduledAt.getTime() - Date.now()) < 120_000)
    const { info } = await describing(row)
    const { workflow } = info.recentActions[0]!.action
    assert.ok(workflow.workflowId.startsWith(scheduleRunId(row.uuid)))
    const handle = env.client.workflow.getHandle(workflow.workflowId)
    await handle.result()
    assert.equal(run.runKey, workflow.firstExecutionRunId)
    assert.ok(!JSON.stringify(await handle.fetchHistory()).includes('hidden-value'))
  })

  it('waits for an instance that runs for longer', async () => {
    const row = await add(await newUser())
    await trigger(row)
    const { instanceUuid } = await runningRun(row)
    await control().record(instanceUuid!, {
      state: InstanceState.Stopped,
      stoppedAtMs: Date.now(),
      exitCode: 4,
    })
    assert.partialDeepStrictEqual(await endedRun(row), { result: 'failed', exitCode: 4 })
  })

  it('ends the earlier run for the next one if it is to cancel it', async () => {
    const row = await add(await newUser(), { overlap: OverlapPolicy.Cancel })
    await trigger(row)
    const first = await runningRun(row)
    // Temporal names a run after its second, and does not begin a second run of the same name.
    const firstSecond = Math.floor(first.scheduledAt.getTime() / 1_000)
    await until('it is another second', () => Date.now() / 1_000 > firstSecond + 2, soon)
    await trigger(row)
    const second = await runningRun(row, first)
    const ended = await firstRun(row, ({ uuid, result }) => uuid === first.uuid && result === 'failed')
    assert.match(ended.reason ?? '', /^it was ended before its time/)
    const living = await rows
      .database()
      .db.selectFrom('instances')
      .select('uuid')
      .where('userUuid', '=', row.userUuid)
      .where('deletedAt', 'is', null)
      .execute()
    assert.deepEqual(living, [{ uuid: second.instanceUuid }])
    await control().record(second.instanceUuid!, { state: InstanceState.Stopped, exitCode: 0 })
    await firstRun(row, ({ uuid, result }) => uuid === second.uuid && result === 'succeeded')
  })

  it('is gone once it is deleted, and can be deleted again', async () => {
    const row = await add(await newUser())
    await schedules.apply(scheduleSettings(row))
    await schedules.delete(row.uuid)
    await schedules.delete(row.uuid)
    await assert.rejects(describing(row), ScheduleNotFoundError)
  })
})
