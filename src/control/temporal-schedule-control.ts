import { strict as assert } from 'node:assert'
import { ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client'
import type { CalendarSpec, Client, ScheduleOptions, ScheduleUpdateOptions } from '@temporalio/client'
import { controlTaskQueue } from '../domain/instance/host-work.ts'
import { parseCron } from '../domain/schedule/cron.ts'
import type { Cron } from '../domain/schedule/cron.ts'
import { OverlapPolicy } from '../domain/schedule/overlap.ts'
import type { ScheduleRunInput, ScheduleSettings } from '../domain/schedule/settings.ts'
import { scheduleId, scheduleRunId, scheduleRunType } from '../../workflows/schedule/messages.ts'
import { userAttribute } from '../../workflows/search-attributes.ts'
import type { ScheduleControl } from './schedule-control.ts'
import { inTime } from './temporal-calls.ts'

const overlapOf = {
  [OverlapPolicy.Skip]: ScheduleOverlapPolicy.SKIP,
  [OverlapPolicy.Queue]: ScheduleOverlapPolicy.BUFFER_ONE,
  [OverlapPolicy.Allow]: ScheduleOverlapPolicy.ALLOW_ALL,
  [OverlapPolicy.Cancel]: ScheduleOverlapPolicy.CANCEL_OTHER,
} satisfies Record<OverlapPolicy, ScheduleOverlapPolicy>

const monthNames = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const
const dayNames = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const

export function createScheduleControl(client: Client): ScheduleControl {
  const ask = <T>(call: () => Promise<T>): Promise<T> => inTime(client, call)
  const handleOf = (uuid: string) => client.schedule.getHandle(scheduleId(uuid))

  async function apply(settings: ScheduleSettings): Promise<void> {
    const options = optionsOf(settings)
    try {
      await ask(() => client.schedule.create({ ...options, scheduleId: scheduleId(settings.scheduleUuid) }))
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      await bringUpToDate(settings, options)
    }
  }

  async function bringUpToDate(settings: ScheduleSettings, options: Options): Promise<void> {
    const handle = handleOf(settings.scheduleUuid)
    const { state } = await ask(() => handle.describe())
    if (versionIn(state.note) >= settings.version) return
    await ask(() => handle.update(() => options))
  }

  return {
    apply,
    async trigger(settings) {
      await apply(settings)
      await ask(() => handleOf(settings.scheduleUuid).trigger(overlapOf[settings.overlap]))
    },
    async delete(scheduleUuid) {
      try {
        await ask(() => handleOf(scheduleUuid).delete())
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error
      }
    },
  }
}

/** What a create and an update have in common. */
type Options = ScheduleUpdateOptions & Pick<ScheduleOptions, 'state'>

function optionsOf(settings: ScheduleSettings): Options {
  const { scheduleUuid, name, userUuid, timeZone, paused, catchUpS, overlap, version } = settings
  const read = parseCron(settings.cron)
  assert(read.ok, 'the expression of a schedule was checked when it was written')
  const attributes = [{ key: userAttribute, value: userUuid }]
  const input: ScheduleRunInput = { scheduleUuid }
  return {
    spec: { calendars: calendarsOf(read.cron), timezone: timeZone },
    policies: {
      overlap: overlapOf[overlap],
      catchupWindow: catchUpS * 1_000,
      // A run that fails for a reason of its user is a result, and no failure of its workflow.
      pauseOnFailure: false,
    },
    state: { paused, note: noteOf(version) },
    typedSearchAttributes: attributes,
    action: {
      type: 'startWorkflow',
      workflowType: scheduleRunType,
      // Temporal appends the time of the run.
      workflowId: scheduleRunId(scheduleUuid),
      taskQueue: controlTaskQueue,
      args: [input],
      typedSearchAttributes: attributes,
      memo: { name },
      staticSummary: `run of schedule ${name}`,
    },
  }
}

/** Two calendars if the days are restricted in both ways: Temporal takes the times of either. */
function calendarsOf({ minutes, hours, months, daysOfMonth, daysOfWeek }: Cron): CalendarSpec[] {
  const common: CalendarSpec = {
    minute: [...minutes],
    hour: [...hours],
    month: months.map((month) => monthNames[month - 1]!),
  }
  const ofMonth: CalendarSpec[] =
    daysOfMonth === undefined ? [] : [{ ...common, dayOfMonth: [...daysOfMonth] }]
  const ofWeek: CalendarSpec[] =
    daysOfWeek === undefined ? [] : [{ ...common, dayOfWeek: daysOfWeek.map((day) => dayNames[day]!) }]
  const restricted = [...ofMonth, ...ofWeek]
  return restricted.length > 0 ? restricted : [common]
}

/**
 * The version of the row stands in the note of Temporal's schedule, so that an older one is never applied
 * later.
 */
function noteOf(version: number): string {
  return `version ${version}`
}

function versionIn(note: string | undefined): number {
  return Number(/^version (\d+)$/.exec(note ?? '')?.[1] ?? 0)
}
