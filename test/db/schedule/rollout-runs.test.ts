import { strict as assert } from 'node:assert'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { ScheduleActivities } from '../../../activities/schedule/activities.ts'
import { findByUuids } from '../../../src/db/instance/instances.ts'
import { openEnv } from '../../../src/db/instance/row.ts'
import { listRollouts } from '../../../src/db/rollout/records.ts'
import { listRuns } from '../../../src/db/schedule/runs.ts'
import type { ScheduleRow } from '../../../src/db/schedule/row.ts'
import type { RolloutAction } from '../../../src/domain/schedule/action.ts'
import { defaultCheck } from '../../../src/domain/rollout/plan.ts'
import { RolloutPhase } from '../../../src/domain/rollout/phase.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { scheduleRows } from '../../support/schedule-rows.ts'

const scheduledAtMs = Date.parse('2026-11-27T03:00:00Z')
const plan = {
  canary: [100],
  bakeMs: 1_000,
  check: { ...defaultCheck },
  maxErrorPercent: 5,
  keepMs: 60_000,
}
const rolloutOf = (service: string, more: Partial<RolloutAction> = {}): RolloutAction => ({
  type: 'rollout',
  service,
  replacesVariables: false,
  removedVariables: [],
  plan,
  supersede: false,
  ...more,
})

describe('a run of a schedule that rolls a service out', () => {
  const rows = scheduleRows()
  const database = () => rows.database()

  const call = (name: keyof ScheduleActivities, { uuid }: ScheduleRow) =>
    new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(rows.activities()[name], {
      scheduleUuid: uuid,
      runKey: 'first',
      scheduledAtMs,
    })
  const runOf = async ({ uuid }: ScheduleRow) => (await listRuns(database(), uuid, 1))[0]!

  async function scheduled(more: Partial<RolloutAction> = {}) {
    const user = await rows.newUser()
    const service = await rows.created(user, rows.wanted([443]))
    await rows.instances(user, {
      name: 'web',
      autostart: true,
      env: { A: '1', OLD: '2' },
      service: { existing: { uuid: service.uuid } },
    })
    const schedule = await rows.add(user, {
      action: rolloutOf(service.name, { removedVariables: ['OLD'], ...more }),
      env: { SECRET: 'hidden' },
    })
    return { schedule, service }
  }

  const moveTo = async (uuid: string, phase: RolloutPhase, reason: string | null = null) =>
    database().db.updateTable('rollouts').set({ phase, reason }).where('uuid', '=', uuid).execute()

  it('begins one rollout, however often it is attempted, and waits until the new version serves', async () => {
    const { schedule, service } = await scheduled()
    assert.deepEqual(await call('beginScheduledRun', schedule), { waitMs: 2_000 })
    assert.deepEqual(await call('beginScheduledRun', schedule), { waitMs: 2_000 })
    const [rollout, ...others] = await listRollouts(database(), service.uuid, 10)
    assert.ok(rollout !== undefined)
    assert.deepEqual(others, [])
    const next = await database()
      .db.selectFrom('instances')
      .select('uuid')
      .where('rolloutUuid', '=', rollout.uuid)
      .execute()
    const [instance] = await findByUuids(
      database(),
      next.map(({ uuid }) => uuid),
    )
    assert.deepEqual(openEnv(testSecretBox, instance!), { A: '1', SECRET: 'hidden' })
    await moveTo(rollout.uuid, RolloutPhase.Kept)
    assert.deepEqual(await call('continueScheduledRun', schedule), {})
    assert.partialDeepStrictEqual(await runOf(schedule), {
      result: 'succeeded',
      reason: 'the new version serves',
      rolloutUuid: rollout.uuid,
    })
  })

  it('fails with the reason of a rollout that went back', async () => {
    const { schedule, service } = await scheduled()
    await call('beginScheduledRun', schedule)
    const [rollout] = await listRollouts(database(), service.uuid, 1)
    await moveTo(rollout!.uuid, RolloutPhase.Returned, 'too many requests failed')
    await call('continueScheduledRun', schedule)
    const { result, reason } = await runOf(schedule)
    assert.deepEqual([result, reason], ['failed', 'it went back: too many requests failed'])
  })

  it('fails where there is no such service, or another rollout is under way', async () => {
    const user = await rows.newUser()
    const schedule = await rows.add(user, { action: rolloutOf('gone') })
    await call('beginScheduledRun', schedule)
    assert.equal((await runOf(schedule)).reason, 'there is no service gone')

    const { schedule: second, service } = await scheduled()
    const [row] = await database()
      .db.selectFrom('services')
      .select('userUuid')
      .where('uuid', '=', service.uuid)
      .execute()
    const first = await rows.add({ uuid: row!.userUuid }, { action: rolloutOf(service.name) })
    await call('beginScheduledRun', first)
    await call('beginScheduledRun', second)
    assert.equal((await runOf(second)).reason, 'refused: rollout-under-way')
  })

  it('has its rollout go back if it is ended before its time', async () => {
    const { schedule, service } = await scheduled()
    await call('beginScheduledRun', schedule)
    await call('cancelScheduledRun', schedule)
    const [rollout] = await listRollouts(database(), service.uuid, 1)
    assert.deepEqual(rollout?.recalledBy, { by: 'schedule', name: schedule.name })
    assert.equal((await runOf(schedule)).result, 'failed')
  })
})
