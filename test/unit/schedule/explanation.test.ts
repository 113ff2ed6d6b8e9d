import { strict as assert } from 'node:assert'
import { explainSchedule } from '../../../src/domain/schedule/explanation.ts'
import type { ExplainedSchedule } from '../../../src/domain/schedule/explanation.ts'

const schedule: ExplainedSchedule = {
  name: 'nightly',
  cron: '0 3 * * *',
  timeZone: 'Europe/Berlin',
  paused: false,
  action: { type: 'start', instances: ['web', 'db'] },
  overlap: 'skip',
  isTold: true,
  nextAtMs: Date.parse('2026-11-28T02:00:00Z'),
}

describe('the explanation of a schedule', () => {
  it('says what it does and when it runs next', () => {
    assert.deepEqual(explainSchedule(schedule), {
      now: "nightly starts web, db at '0 3 * * *' in Europe/Berlin; it has not run yet.",
      next: 'it runs at 2026-11-28T02:00:00.000Z',
    })
  })

  it('says that a paused schedule runs only by hand', () => {
    assert.partialDeepStrictEqual(explainSchedule({ ...schedule, paused: true }), {
      now: "nightly starts web, db at '0 3 * * *' in Europe/Berlin, and is paused; it has not run yet.",
      next: 'nothing by itself, until it is resumed; it can be run by hand',
    })
  })

  it('says why the last run failed, and nothing of the kind if it succeeded', () => {
    const startedAtMs = Date.parse('2026-11-27T02:00:00Z')
    const ended = { startedAtMs, endedAtMs: startedAtMs + 4_000, reason: 'it ended with exit code 2' }
    const failed = explainSchedule({ ...schedule, lastRun: { ...ended, result: 'failed' } })
    assert.match(failed.now, /its last run failed at 2026-11-27T02:00:04.000Z\.$/)
    assert.equal(failed.failure, 'it ended with exit code 2')
    const succeeded = explainSchedule({ ...schedule, lastRun: { ...ended, result: 'succeeded' } })
    assert.equal(succeeded.failure, undefined)
  })

  it('says what a run that is under way means for the next one, by the policy', () => {
    const lastRun = { result: 'running', startedAtMs: Date.parse('2026-11-27T02:00:00Z') } as const
    const next = (['skip', 'queue', 'allow', 'cancel'] as const).map(
      (overlap) => explainSchedule({ ...schedule, overlap, lastRun }).next.split('Z, ')[1],
    )
    assert.deepEqual(next, [
      'unless this run is still under way then',
      'or when this run has ended, if that is later',
      'also if this run is still under way',
      'and ends this run if it is still under way',
    ])
  })

  it('says that Temporal has not heard of the last change', () => {
    assert.match(explainSchedule({ ...schedule, isTold: false }).next, /known to Temporal/)
  })
})
