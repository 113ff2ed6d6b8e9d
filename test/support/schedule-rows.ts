import { strict as assert } from 'node:assert'
import { createScheduleActivities } from '../../activities/schedule/runs.ts'
import type { ScheduleRunDeps } from '../../activities/schedule/run-deps.ts'
import { createSchedule } from '../../src/db/schedule/create.ts'
import type { NewSchedule } from '../../src/db/schedule/create.ts'
import type { ScheduleRow } from '../../src/db/schedule/row.ts'
import { thePlatform } from '../../src/domain/event/asker.ts'
import type { RunAction } from '../../src/domain/schedule/action.ts'
import { keepLive, testImage, testSecretBox } from './accounts.ts'
import { createFakeControl } from './fake-control.ts'
import type { FakeControl } from './fake-control.ts'
import { createFakeRolloutControl } from './fake-rollout-control.ts'
import { createFakeVolumeControl } from './fake-volume-control.ts'
import { serviceRecords } from './service-records.ts'

/** An action that makes an instance of the image that tests use. */
export const testRun: RunAction = {
  type: 'run',
  image: testImage,
  memoryMb: 128,
  vcpus: 1,
  timeoutMs: 600_000,
}

/**
 * Writes schedules without the API, in a database for the describe block that calls this. The activities of
 * runs work on the same database, with fake workflows of instances.
 */
export function scheduleRows() {
  const records = serviceRecords()
  const { database } = records
  const scene: { control?: FakeControl; printed: string; logFails: boolean } = {
    printed: '',
    logFails: false,
  }
  beforeEach(async () => {
    await keepLive(database(), 'local')
    Object.assign(scene, { control: createFakeControl(database()), printed: '', logFails: false })
  })

  const control = (): FakeControl => {
    assert.ok(scene.control)
    return scene.control
  }

  const add = async (
    user: { readonly uuid: string },
    more: Partial<NewSchedule> = {},
    limit = 32,
  ): Promise<ScheduleRow> => {
    const wanted: NewSchedule = {
      userUuid: user.uuid,
      cron: '0 3 * * *',
      timeZone: 'UTC',
      paused: false,
      catchUpS: 60,
      overlap: 'skip',
      action: testRun,
      env: {},
      asker: thePlatform,
      ...more,
    }
    const outcome = await createSchedule({ database: database(), secretBox: testSecretBox }, wanted, limit)
    assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.kind)
    return outcome.schedule
  }

  const activities = (more: Partial<ScheduleRunDeps> = {}) =>
    createScheduleActivities({
      database: database(),
      secretBox: testSecretBox,
      instances: control(),
      volumes: createFakeVolumeControl(database()),
      logs: {
        async readLog(_instance, { limit }) {
          if (scene.logFails) throw new Error('the host does not answer')
          const bytes = Buffer.from(scene.printed).subarray(-limit)
          const range = { availableStart: 0, availableEnd: 0, rangeStart: 0, rangeEnd: 0 }
          return { ...range, outputBase64: bytes.toString('base64') }
        },
      },
      refusalSentence: ({ kind }) => `refused: ${kind}`,
      rollouts: createFakeRolloutControl(),
      bounds: { keptRuns: 3, logBytes: 64, keptRollouts: 3, variables: 8 },
      nowMs: Date.now,
      ...more,
    })

  return { ...records, scene, control, add, activities }
}
