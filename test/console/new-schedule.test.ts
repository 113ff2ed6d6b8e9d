import { strict as assert } from 'node:assert'
import {
  emptyScheduleDraft,
  fieldInSentence,
  nextRunsOf,
  readScheduleDraft,
} from '../../console/schedule/new-schedule.ts'
import type { ScheduleDraft } from '../../console/schedule/new-schedule.ts'
import { scheduleFailures } from '../../src/contract/schedule/failures.ts'

const read = (draft: Partial<ScheduleDraft>) =>
  readScheduleDraft({ ...emptyScheduleDraft, image: 'hello', ...draft })
const fieldOf = (draft: Partial<ScheduleDraft>) => {
  const reading = read(draft)
  return reading.ok ? 'none' : reading.field
}

describe('the form for a schedule', () => {
  it('means a run, a start or a stop, with what belongs to it', () => {
    const rest = { cron: '0 3 * * *', time_zone: 'UTC', overlap: 'skip', catch_up_s: 60 }
    assert.deepEqual(read({ name: ' nightly ', args: '--full', env: 'A=1' }), {
      ok: true,
      request: {
        name: 'nightly',
        ...rest,
        action: {
          run: { image: 'hello', args: '--full', env: { A: '1' }, memory_mb: 128, timeout_s: 3_600 },
        },
      },
    })
    const actionOf = (draft: Partial<ScheduleDraft>) => {
      const reading = read({ instances: 'web, db', ...draft })
      return reading.ok && reading.request.action
    }
    assert.deepEqual(actionOf({ action: 'start' }), { start: { instances: ['web', 'db'] } })
    const stop = { instances: ['web', 'db'], drain_timeout_ms: 5_000 }
    assert.deepEqual(actionOf({ action: 'stop', drainS: '5' }), { stop })
  })

  it('names the field that is wrong', () => {
    const wrong = {
      cron: { cron: '0 3 * *' },
      timeZone: { timeZone: 'Berlin' },
      catchUpS: { catchUpS: '9' },
      image: { image: ' ' },
      memoryMb: { memoryMb: 'much' },
      timeoutS: { timeoutS: '0' },
      env: { env: 'A' },
      instances: { action: 'start', instances: ' ' },
      drainS: { action: 'stop', instances: 'web', drainS: '-1' },
      none: {},
    } as const
    for (const [field, draft] of Object.entries(wrong)) assert.equal(fieldOf(draft), field)
  })

  it('knows the next runs as soon as it knows the times', () => {
    const next = (draft: Partial<ScheduleDraft>) =>
      nextRunsOf({ ...emptyScheduleDraft, ...draft }, Date.UTC(2026, 0, 1), 2).map((at) =>
        new Date(at).toISOString(),
      )
    assert.deepEqual(next({ timeZone: 'Europe/Berlin' }), [
      '2026-01-01T02:00:00.000Z',
      '2026-01-02T02:00:00.000Z',
    ])
    assert.deepEqual(next({ cron: 'never' }), [])
    assert.deepEqual(next({ timeZone: 'Nowhere' }), [])
  })

  it('finds the field of a refusal of the API', () => {
    assert.equal(fieldInSentence(scheduleFailures.invalidCron.sentence), 'cron')
    assert.equal(fieldInSentence(scheduleFailures.invalidTimeZone.sentence), 'timeZone')
    assert.equal(fieldInSentence("No image 'x' with tag 'latest'"), 'image')
    assert.equal(fieldInSentence("Schedule with name 'x' already exists"), 'name')
    assert.equal(
      fieldInSentence("Value of 'timeout_s' in run description must be in the range 1 to 86400"),
      'timeoutS',
    )
    assert.equal(fieldInSentence(scheduleFailures.tooManySchedules.sentence), undefined)
  })
})
