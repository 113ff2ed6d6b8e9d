import { Type } from 'typebox'
import { OverlapPolicy } from '../../domain/schedule/overlap.ts'
import { SchedulePart } from '../../domain/schedule/part.ts'
import { RunResult } from '../../domain/schedule/run.ts'
import { presentPlanFields } from '../rollout/responses.ts'
import { explanationFields } from '../explanation.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'
import { keptRunLogBytes } from '../limits.ts'

const scheduleName = Type.String({ description: 'Name of the schedule.' })
const identified = { status: statusSuccess, uuid: uuidField, name: scheduleName }

export const scheduleIdentity = closed({ uuid: uuidField, name: scheduleName })
/** The entry of every operation that changes a schedule and says no more. */
export const changedSchedule = closed(identified)

const instances = Type.Array(Type.String(), { description: 'Names of instances.' })

/** The action as requests have it, with all defaults. */
const action = closed({
  start: Type.Optional(closed({ instances })),
  stop: Type.Optional(closed({ instances, drain_timeout_ms: count('How long connections may drain.') })),
  run: Type.Optional(
    closed({
      image: Type.String({ description: '`<name>@sha256:<hex>`; official images have no user in front.' }),
      args: Type.Optional(Type.Array(Type.String())),
      env: Type.Record(Type.String(), Type.String()),
      memory_mb: count('Memory in MiB.'),
      vcpus: count('Virtual CPUs.'),
      volumes: Type.Array(
        closed({
          uuid: Type.Optional(uuidField),
          name: Type.Optional(Type.String()),
          size_mb: Type.Optional(count('Size in MiB of the volume that each run makes.')),
          at: Type.String({ description: 'Path of the mount.' }),
          readonly: Type.Boolean(),
        }),
      ),
      timeout_s: count('The most seconds that a run may take.'),
    }),
  ),
  rollout: Type.Optional(
    closed({
      service: Type.String({ description: 'Name of the service.' }),
      image: Type.Optional(Type.String({ description: '`<name>@sha256:<hex>`.' })),
      args: Type.Optional(Type.Array(Type.String())),
      env: Type.Optional(Type.Record(Type.String(), Type.String())),
      add: Type.Optional(closed({ env: Type.Record(Type.String(), Type.String()) })),
      del: Type.Optional(closed({ env: Type.Array(Type.String()) })),
      memory_mb: Type.Optional(count('Memory in MiB.')),
      vcpus: Type.Optional(count('Virtual CPUs.')),
      ...presentPlanFields,
      supersede: Type.Boolean(),
    }),
  ),
})

const runFields = {
  uuid: uuidField,
  scheduled_at: timestampField,
  started_at: timestampField,
  ended_at: Type.Optional(timestampField),
  result: vocabulary(Object.values(RunResult), 'What became of the run.'),
  reason: Type.Optional(Type.String({ description: 'Why it succeeded or failed; absent while it runs.' })),
  instance: Type.Optional(
    closed(
      { uuid: uuidField, name: Type.String({ description: 'Name of the instance.' }) },
      { description: 'The instance that the run made. It is deleted when the run is over.' },
    ),
  ),
  exit_code: Type.Optional(count("The application's exit code.")),
  stop_reason: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 31, description: 'Origin of the stop, as bits.' }),
  ),
}

const run = closed({
  ...runFields,
  log: Type.Optional(
    Type.String({ description: `The last ${keptRunLogBytes} bytes that the instance printed.` }),
  ),
})

/** The entry with all fields of a schedule. `status` is left out if all schedules are listed. */
export const scheduleDetails = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: scheduleName,
  created_at: Type.Optional(timestampField),
  cron: Type.Optional(Type.String({ description: 'The expression, as it was written.' })),
  time_zone: Type.Optional(Type.String({ description: 'The time zone of the expression.' })),
  paused: Type.Optional(Type.Boolean({ description: 'No run begins by itself.' })),
  catch_up_s: Type.Optional(count('Within so many seconds a missed run is made up for.')),
  overlap: Type.Optional(
    vocabulary(Object.values(OverlapPolicy), 'What happens to a run that is due while another is under way.'),
  ),
  action: Type.Optional(action),
  next_runs: Type.Optional(
    Type.Array(timestampField, { description: 'The next times; empty while it is paused.' }),
  ),
  last_run: Type.Optional(closed(runFields, { description: 'Absent if none began yet.' })),
})

/** The entry of one object of a request. Several objects may be about the same schedule. */
export const updatedSchedule = closed({
  ...identified,
  id: Type.Optional(Type.String({ description: 'The `id` of the change, as the request gave it.' })),
  changed: Type.Array(vocabulary(Object.values(SchedulePart), 'A property.'), {
    description: 'The properties that are other than before.',
  }),
})

export const scheduleRuns = closed({
  ...identified,
  runs: Type.Array(run, { description: 'The newest first.' }),
})

export const explainedSchedule = closed({
  ...identified,
  ...explanationFields,
})
