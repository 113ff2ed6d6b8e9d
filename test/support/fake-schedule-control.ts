import type { ScheduleControl } from '../../src/control/schedule-control.ts'
import type { ScheduleSettings } from '../../src/domain/schedule/settings.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/** A control that only remembers what Temporal would have. It begins no runs. */
export interface FakeScheduleControl extends ScheduleControl, FakeCalls {
  /** Temporal's schedules, by the UUIDs of the rows. */
  readonly schedules: Map<string, ScheduleSettings>
}

export function createFakeScheduleControl(): FakeScheduleControl {
  const { faults, calls, called } = noteCalls()
  const schedules = new Map<string, ScheduleSettings>()

  async function apply(settings: ScheduleSettings): Promise<void> {
    called(`apply version ${settings.version}`)
    const { version = 0 } = schedules.get(settings.scheduleUuid) ?? {}
    if (version < settings.version) schedules.set(settings.scheduleUuid, settings)
  }

  return {
    faults,
    calls,
    schedules,
    apply,
    async trigger(settings) {
      called('trigger')
      schedules.set(settings.scheduleUuid, settings)
    },
    async delete(scheduleUuid) {
      called('delete')
      schedules.delete(scheduleUuid)
    },
  }
}
