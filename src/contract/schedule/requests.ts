import { Type } from 'typebox'
import { defaultRunTimeoutMs } from '../../domain/schedule/action.ts'
import { cronWords, maxCronLength } from '../../domain/schedule/cron.ts'
import {
  OverlapPolicy,
  catchUpRangeS,
  defaultCatchUpS,
  defaultOverlap,
  defaultTimeZone,
} from '../../domain/schedule/overlap.ts'
import { clearableParts } from '../../domain/schedule/part.ts'
import { changeId, closed, nameField, vocabulary } from '../fields.ts'
import { createRolloutBody } from '../rollout/requests.ts'
import { createInstanceBody, stopInstanceBody } from '../instance/requests.ts'
import { keptRuns, maxRunTimeoutSeconds, maxScheduledInstances } from '../limits.ts'
import { exactlyOneObject } from '../openapi/published-rules.ts'

// The schemas of requests about schedules.

const instances = Type.Array(nameField, {
  minItems: 1,
  maxItems: maxScheduledInstances,
  uniqueItems: true,
  description: 'Names of instances. Each means the instance that has the name at the time of a run.',
})

const { image, args, env, memory_mb, vcpus, volumes } = createInstanceBody.properties

const { id: _id, ...rolloutParts } = createRolloutBody.properties

/** What a schedule does. Exactly one is given; `src/api/schedule/action.ts` checks that. */
const actionField = closed(
  {
    start: Type.Optional(closed({ instances }, { 'x-place': 'start description' })),
    stop: Type.Optional(
      closed(
        { instances, drain_timeout_ms: stopInstanceBody.properties.drain_timeout_ms },
        { 'x-place': 'stop description' },
      ),
    ),
    run: Type.Optional(
      closed(
        {
          image,
          args,
          env,
          memory_mb,
          vcpus,
          volumes,
          timeout_s: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: maxRunTimeoutSeconds,
              description: `After so many seconds the instance is stopped, and the run has failed; default ${defaultRunTimeoutMs / 1_000}.`,
            }),
          ),
        },
        {
          'x-place': 'run description',
          description: 'The instance that each run makes, waits for and deletes.',
        },
      ),
    ),
    rollout: Type.Optional(
      closed(
        { service: nameField, ...rolloutParts },
        {
          'x-place': 'rollout description',
          description:
            'A rollout of the service that has the name at the time of a run. The run lasts until the new version ' +
            'serves, or has gone back.',
        },
      ),
    ),
  },
  {
    'x-place': 'schedule action',
    'x-published': exactlyOneObject(['start', 'stop', 'run', 'rollout']),
    description: 'What each run does.',
  },
)

const cronField = Type.String({
  minLength: 1,
  maxLength: maxCronLength,
  description: `Minute, hour, day of the month, month and day of the week, as in a crontab; or one of ${Object.keys(cronWords).join(', ')}.`,
})

const parts = {
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `Name in the time zone database, such as \`Europe/Berlin\`; default ${defaultTimeZone}.`,
    }),
  ),
  paused: Type.Optional(Type.Boolean({ description: 'No run begins by itself; default false.' })),
  catch_up_s: Type.Optional(
    Type.Integer({
      minimum: catchUpRangeS.min,
      maximum: catchUpRangeS.max,
      description: `A run that was missed is made up for within so many seconds; default ${defaultCatchUpS}.`,
    }),
  ),
  overlap: Type.Optional(
    vocabulary(
      Object.values(OverlapPolicy),
      `What happens to a run that is due while an earlier one is under way; default ${defaultOverlap}.`,
    ),
  ),
}

export const createScheduleBody = closed({
  name: Type.Optional(nameField),
  cron: cronField,
  ...parts,
  action: actionField,
})

/** The changes of one schedule, beside its identifier. What is left out stays as it is. */
export const updateScheduleBody = closed({
  id: changeId,
  cron: Type.Optional(cronField),
  ...parts,
  action: Type.Optional(actionField),
  clear: Type.Optional(
    Type.Array(vocabulary(clearableParts, 'A property that gets its default again.'), {
      maxItems: clearableParts.length,
      description: 'Properties that get their defaults again.',
    }),
  ),
})

export const scheduleFilterBody = closed({
  paused: Type.Optional(Type.Boolean({ description: 'Only schedules that are, or are not, paused.' })),
})

export const defaultRunCount = 10

export const runsBody = closed({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: keptRuns,
      description: `Most runs of each schedule to return; default ${defaultRunCount}.`,
    }),
  ),
  log: Type.Optional(
    Type.Boolean({ description: 'Give the last part of the log of each run, too; default false.' }),
  ),
})
