import { strict as assert } from 'node:assert'
import { createSweep } from '../../../src/control/sweep.ts'
import { sweptEntities } from '../../../src/control/swept-entity.ts'
import { changeSchedule } from '../../../src/db/schedule/change.ts'
import { createSchedule } from '../../../src/db/schedule/create.ts'
import { markScheduleDeleted } from '../../../src/db/schedule/records.ts'
import { openScheduleEnv } from '../../../src/db/schedule/row.ts'
import type { ScheduleRow } from '../../../src/db/schedule/row.ts'
import { beginRun, insertInstanceOfRun } from '../../../src/db/schedule/runs.ts'
import { findSchedules } from '../../../src/db/schedule/schedules.ts'
import { thePlatform } from '../../../src/domain/event/asker.ts'
import { testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createFakeAutoscaleControl } from '../../support/fake-autoscale-control.ts'
import { createFakeCertificateControl } from '../../support/fake-certificate-control.ts'
import { createFakeScheduleControl } from '../../support/fake-schedule-control.ts'
import { createFakeRolloutControl } from '../../support/fake-rollout-control.ts'
import type { FakeScheduleControl } from '../../support/fake-schedule-control.ts'
import { createFakeVolumeControl } from '../../support/fake-volume-control.ts'
import { scheduleRows, testRun } from '../../support/schedule-rows.ts'

describe('the row of a schedule', () => {
  const rows = scheduleRows()
  const { add, newUser } = rows
  const deps = () => ({ database: rows.database(), secretBox: testSecretBox })
  const change = (row: ScheduleRow, wanted: Parameters<typeof changeSchedule>[2]) =>
    changeSchedule(deps(), { uuid: row.uuid, userUuid: row.userUuid, asker: thePlatform }, wanted)

  it('holds the variables of a run only sealed', async () => {
    const user = await newUser()
    const row = await add(user, { env: { SECRET: 'hidden' } })
    assert.ok(!JSON.stringify(row).includes('hidden'))
    assert.deepEqual(openScheduleEnv(testSecretBox, row), { SECRET: 'hidden' })
    const other = await add(user)
    assert.throws(() => openScheduleEnv(testSecretBox, { ...row, uuid: other.uuid }))
  })

  it('is refused if the name is taken, or the account has as many as it may have', async () => {
    const user = await newUser()
    const { uuid: _uuid, ...row } = await add(user, { name: 'nightly' })
    const again = { ...row, env: {}, asker: thePlatform }
    assert.partialDeepStrictEqual(await createSchedule(deps(), again, 32), {
      refusal: { kind: 'schedule-name-taken', name: 'nightly' },
    })
    assert.partialDeepStrictEqual(await createSchedule(deps(), { ...again, name: 'other' }, 1), {
      refusal: { kind: 'too-many-schedules', limit: 1 },
    })
    await markScheduleDeleted(rows.database(), { ...row, uuid: _uuid, asker: thePlatform })
    assert.ok((await createSchedule(deps(), again, 1)).ok)
  })

  it('gets a new version with each change that concerns Temporal, and no other', async () => {
    const row = await add(await newUser(), { env: { A: '1' } })
    const same = await change(row, { cron: row.cron, action: { action: testRun, env: { A: '1' } } })
    assert.deepEqual(same?.changed, [])
    const env = await change(row, { action: { action: testRun, env: { A: '2' } } })
    assert.deepEqual([env?.changed, env?.schedule.version], [['action'], 1])
    const time = await change(row, { cron: '@hourly', paused: true })
    assert.deepEqual([time?.changed, time?.schedule.version], [['cron', 'paused'], 2])
  })
})

describe('the sweep of schedules', () => {
  const rows = scheduleRows()
  const { add, newUser } = rows
  let control: FakeScheduleControl
  const sweepWith = (schedules: FakeScheduleControl) => {
    const database = rows.database()
    const parts = {
      instances: rows.control(),
      volumes: createFakeVolumeControl(database),
      certificates: createFakeCertificateControl(),
      autoscales: createFakeAutoscaleControl(),
      schedules,
      rollouts: createFakeRolloutControl(),
    }
    const entities = sweptEntities(database, parts).filter(({ name }) => name === 'schedule')
    return createSweep({ entities, nowMs: Date.now, olderThanMs: -1_000 })()
  }
  beforeEach(() => {
    control = createFakeScheduleControl()
  })
  afterEach(async () => {
    await rows.database().db.deleteFrom('schedules').execute()
  })

  it('makes what Temporal does not have, once', async () => {
    const { uuid } = await add(await newUser())
    control.faults.isAway = true
    assert.equal((await sweepWith(control)).started, 0)
    control.faults.isAway = false
    assert.equal((await sweepWith(control)).started, 1)
    assert.equal(control.schedules.get(uuid)?.version, 1)
    assert.equal((await sweepWith(control)).started, 0)
  })

  it('applies a change that comes while an older one is applied', async () => {
    const row = await add(await newUser())
    let isFirst = true
    const slow: FakeScheduleControl = {
      ...control,
      async apply(settings) {
        await control.apply(settings)
        if (!isFirst) return
        isFirst = false
        const deps = { database: rows.database(), secretBox: testSecretBox }
        const of = { uuid: row.uuid, userUuid: row.userUuid, asker: thePlatform }
        await changeSchedule(deps, of, { paused: true })
      },
    }
    await sweepWith(slow)
    assert.partialDeepStrictEqual(control.schedules.get(row.uuid), { version: 2, paused: true })
  })

  it("removes a deleted schedule with the instance of its run, once Temporal's schedule is gone", async () => {
    const user = await newUser()
    const row = await add(user)
    const { uuid, userUuid } = row
    const begun = await beginRun(rows.database(), { scheduleUuid: uuid, runKey: 'a', scheduledAtMs: 0 })
    const wanted = { ...wantedInstance(user), name: 'made' }
    const deps = { database: rows.database(), secretBox: testSecretBox }
    assert.ok((await insertInstanceOfRun(deps, begun!.run, wanted)).ok)
    await markScheduleDeleted(rows.database(), { uuid, userUuid, asker: thePlatform })
    const left = () => rows.database().db.selectFrom('schedules').select('uuid').execute()
    control.faults.isAway = true
    await sweepWith(control)
    assert.equal((await left()).length, 1)
    control.faults.isAway = false
    await sweepWith(control)
    assert.deepEqual(await left(), [])
    const made = await rows.database().db.selectFrom('instances').select('deletedAt').execute()
    assert.deepEqual(
      made.filter(({ deletedAt }) => deletedAt === null),
      [],
    )
    assert.deepEqual(await findSchedules(rows.database(), user.uuid, [{ uuid }]), [undefined])
  })
})
