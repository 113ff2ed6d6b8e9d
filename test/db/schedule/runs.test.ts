import { strict as assert } from 'node:assert'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { ScheduleActivities } from '../../../activities/schedule/activities.ts'
import { findInstances, markDeleted } from '../../../src/db/instance/instances.ts'
import { openEnv } from '../../../src/db/instance/row.ts'
import { listRuns } from '../../../src/db/schedule/runs.ts'
import { markScheduleDeleted } from '../../../src/db/schedule/records.ts'
import type { ScheduleRow } from '../../../src/db/schedule/row.ts'
import { thePlatform } from '../../../src/domain/event/asker.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { stopPatienceMs } from '../../../src/domain/schedule/run.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { scheduleRows, testRun } from '../../support/schedule-rows.ts'

const scheduledAtMs = Date.parse('2026-11-27T03:00:00Z')

describe('a run of a schedule', () => {
  const rows = scheduleRows()
  const { add, newUser, control, scene } = rows
  const database = () => rows.database()

  const keyOf = ({ uuid }: ScheduleRow, runKey = 'first') => ({ scheduleUuid: uuid, runKey, scheduledAtMs })
  const call = (
    name: keyof ScheduleActivities,
    schedule: ScheduleRow,
    { runKey = 'first', nowMs = Date.now } = {},
  ) =>
    new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(
      rows.activities({ nowMs })[name],
      keyOf(schedule, runKey),
    )
  const runOf = async ({ uuid }: ScheduleRow) => (await listRuns(database(), uuid, 1))[0]!
  const eventsOf = async ({ uuid }: ScheduleRow) =>
    database()
      .db.selectFrom('events')
      .select(['kind', 'stateAfter', 'why', 'askedBy', 'askerName', 'facts'])
      .where('objectUuid', '=', uuid)
      .where('kind', '=', 'schedule.run')
      .execute()
  const instancesOf = async (userUuid: string) =>
    database()
      .db.selectFrom('instances')
      .select(['uuid', 'name', 'deletedAt'])
      .where('userUuid', '=', userUuid)
      .execute()

  it('starts the instances that it names, and has succeeded', async () => {
    const user = await newUser()
    const [web] = await rows.instances(user, { name: 'web' })
    const schedule = await add(user, { action: { type: 'start', instances: ['web'] } })
    assert.deepEqual(await call('beginScheduledRun', schedule), {})
    const [row] = await findInstances(database(), { userUuid: user.uuid, services: null }, [web!])
    assert.equal(row?.state, InstanceState.Running)
    assert.partialDeepStrictEqual(await runOf(schedule), {
      result: 'succeeded',
      reason: 'asked to start: web',
      scheduledAt: new Date(scheduledAtMs),
      instanceUuid: null,
    })
    assert.partialDeepStrictEqual(await eventsOf(schedule), [
      {
        stateAfter: 'succeeded',
        askedBy: 'schedule',
        askerName: schedule.name,
        facts: { result: 'succeeded' },
      },
    ])
  })

  it('fails with a reason for each instance that there is not, and stops the others', async () => {
    const user = await newUser()
    await rows.instances(user, { name: 'web', autostart: true })
    const schedule = await add(user, { action: { type: 'stop', instances: ['gone', 'web'], drainMs: 0 } })
    await call('beginScheduledRun', schedule)
    assert.deepEqual(control().calls, ['stop gracefully'])
    assert.partialDeepStrictEqual(await runOf(schedule), {
      result: 'failed',
      reason: 'gone: there is no such instance',
    })
  })

  it('fails if the quota has no room for a start', async () => {
    const user = await newUser({ liveInstances: 1 })
    await rows.instances(user, { name: 'web', autostart: true })
    await rows.instances(user, { name: 'other' })
    const schedule = await add(user, { action: { type: 'start', instances: ['other'] } })
    await call('beginScheduledRun', schedule)
    assert.match((await runOf(schedule)).reason ?? '', /^other: quota 'live_instances' exceeded/)
  })

  it('makes one instance however often it begins, with the variables of the schedule', async () => {
    const user = await newUser()
    const schedule = await add(user, { name: 'nightly', env: { SECRET: 'hidden' } })
    control().faults.holdsStarts = true
    for (let attempt = 0; attempt < 3; attempt++)
      assert.notDeepEqual(await call('beginScheduledRun', schedule), {})
    const made = await instancesOf(user.uuid)
    assert.equal(made.length, 1)
    assert.match(made[0]!.name, /^nightly-[a-z0-9]{5}$/)
    const [row] = await findInstances(database(), { userUuid: user.uuid, services: null }, [made[0]!])
    assert.deepEqual(openEnv(testSecretBox, row!), { SECRET: 'hidden' })
    assert.partialDeepStrictEqual(await runOf(schedule), { result: 'running', instanceUuid: made[0]!.uuid })
  })

  it('makes one instance also if the workflow of that instance could not be started at first', async () => {
    const user = await newUser()
    const schedule = await add(user)
    control().faults.isAway = true
    await assert.rejects(call('beginScheduledRun', schedule))
    control().faults.isAway = false
    await call('beginScheduledRun', schedule)
    assert.equal((await instancesOf(user.uuid)).length, 1)
  })

  it('keeps the exit code and the end of the log of its instance, and deletes it', async () => {
    const user = await newUser()
    const schedule = await add(user)
    scene.printed = `${'x'.repeat(100)}\0the end`
    control().faults.endsAtOnce = true
    assert.deepEqual(await call('beginScheduledRun', schedule), {})
    assert.deepEqual(await instancesOf(user.uuid), [])
    const run = await runOf(schedule)
    assert.partialDeepStrictEqual(run, { result: 'succeeded', exitCode: 0, stopReason: 3 })
    assert.equal(run.logTail, `${'x'.repeat(56)}\ufffdthe end`)
    assert.equal((await eventsOf(schedule)).length, 1)
    // A repeated attempt changes nothing.
    assert.deepEqual(await call('continueScheduledRun', schedule), {})
    assert.equal((await eventsOf(schedule)).length, 1)
  })

  it('fails with the reason if its instance does not start, or may not be made', async () => {
    const user = await newUser({ instances: 1 })
    const schedule = await add(user)
    control().faults.failsStarts = 'the image is gone'
    await call('beginScheduledRun', schedule)
    assert.partialDeepStrictEqual(await runOf(schedule), { result: 'failed', reason: 'the image is gone' })
    await rows.instances(user, { name: 'web' })
    await call('beginScheduledRun', schedule, { runKey: 'second' })
    assert.partialDeepStrictEqual(await runOf(schedule), { result: 'failed', reason: 'refused: quota' })
  })

  it('stops an instance that takes too long, and has failed then', async () => {
    const user = await newUser()
    const schedule = await add(user)
    await call('beginScheduledRun', schedule)
    const nowMs = () => Date.now() + testRun.timeoutMs
    assert.deepEqual(await call('continueScheduledRun', schedule, { nowMs }), {})
    assert.ok(control().calls.includes('stop gracefully'))
    assert.partialDeepStrictEqual(await runOf(schedule), {
      result: 'failed',
      reason: 'it took longer than the 600 s that it may take, and was stopped',
    })
    assert.deepEqual(await instancesOf(user.uuid), [])
  })

  it('waits for a while for the log of a host that does not answer', async () => {
    const user = await newUser()
    const schedule = await add(user)
    control().faults.holdsStarts = true
    await call('beginScheduledRun', schedule)
    const [made] = await instancesOf(user.uuid)
    await control().record(made!.uuid, { state: InstanceState.Stopped, stoppedAtMs: Date.now(), exitCode: 0 })
    scene.logFails = true
    assert.deepEqual(await call('continueScheduledRun', schedule), { waitMs: 5_000 })
    const nowMs = () => Date.now() + stopPatienceMs + 10_000
    assert.deepEqual(await call('continueScheduledRun', schedule, { nowMs }), {})
    assert.partialDeepStrictEqual(await runOf(schedule), { result: 'succeeded', logTail: '' })
  })

  it('fails if its instance is deleted, or if it is cancelled, which deletes the instance', async () => {
    const user = await newUser()
    const schedule = await add(user)
    control().faults.holdsStarts = true
    await call('beginScheduledRun', schedule)
    const [made] = await instancesOf(user.uuid)
    await markDeleted(database(), user.uuid, made!.uuid)
    assert.deepEqual(await call('continueScheduledRun', schedule), {})
    assert.partialDeepStrictEqual(await runOf(schedule), { reason: 'its instance was deleted' })
    await call('beginScheduledRun', schedule, { runKey: 'second' })
    await call('cancelScheduledRun', schedule, { runKey: 'second' })
    assert.match((await runOf(schedule)).reason ?? '', /^it was ended before its time/)
    const living = (await instancesOf(user.uuid)).filter(({ deletedAt }) => deletedAt === null)
    assert.deepEqual(living, [])
  })

  it('makes nothing once its schedule is deleted', async () => {
    const user = await newUser()
    const schedule = await add(user)
    await markScheduleDeleted(database(), { uuid: schedule.uuid, userUuid: user.uuid, asker: thePlatform })
    assert.deepEqual(await call('beginScheduledRun', schedule), {})
    assert.deepEqual(await instancesOf(user.uuid), [])
  })

  it('is forgotten once so many later ones have ended', async () => {
    const user = await newUser()
    const schedule = await add(user, { action: { type: 'start', instances: ['gone'] } })
    for (const runKey of ['1', '2', '3', '4', '5']) await call('beginScheduledRun', schedule, { runKey })
    const kept = await listRuns(database(), schedule.uuid, 50)
    assert.deepEqual(
      kept.map(({ runKey }) => runKey),
      ['5', '4', '3'],
    )
  })
})
