import { Type } from 'typebox'
import {
  checkPathForm,
  leastCheckStatus,
  leastCheckTimeoutMs,
  maxCheckPathLength,
  mostCheckStatus,
  mostCheckTimeoutMs,
} from '../../domain/rollout/check.ts'
import {
  defaultBakeMs,
  defaultCanary,
  defaultCheck,
  defaultKeepMs,
  defaultMaxErrorPercent,
  leastErrors,
} from '../../domain/rollout/plan.ts'
import { changeId, closed, vocabulary } from '../fields.ts'
import { updateInstanceBody } from '../instance/requests.ts'
import {
  defaultRolloutCount,
  keptRollouts,
  maxBakeSeconds,
  maxCanarySteps,
  maxCheckIntervalMs,
  maxCheckSeconds,
  maxCheckTimes,
  maxKeepSeconds,
  maxPort,
  maxWatchedLatencyMs,
} from '../limits.ts'

// The schemas of requests about rollouts.

const { image, args, env, memory_mb, vcpus, add, del } = updateInstanceBody.properties
const { env: addedVariables } = add.properties
const { env: removedVariables } = del.properties

/** The properties of the new version that get the image's own value if `clear` names them. */
export const clearableInRollouts = ['args', 'env'] as const

const check = closed(
  {
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPort,
        description: "The application's port; default: that of the first port that the service publishes.",
      }),
    ),
    path: Type.Optional(
      Type.String({
        // `rolloutProblems` checks it, and says what a path is made of.
        'x-published': { pattern: checkPathForm },
        maxLength: maxCheckPathLength,
        description: 'Ask for this path by HTTP. Absent: the port has to accept a connection.',
      }),
    ),
    status: Type.Optional(
      Type.Integer({
        minimum: leastCheckStatus,
        maximum: mostCheckStatus,
        description: 'The wanted status; default 200 to 399.',
      }),
    ),
    times: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCheckTimes,
        description: `How many checks in a row have to succeed; default ${defaultCheck.times}.`,
      }),
    ),
    interval_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: maxCheckIntervalMs,
        description: `The time between two checks; default ${defaultCheck.intervalMs}.`,
      }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({
        minimum: leastCheckTimeoutMs,
        maximum: mostCheckTimeoutMs,
        description: `The longest time of one check; default ${defaultCheck.timeoutMs}.`,
      }),
    ),
    limit_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCheckSeconds,
        description: `An instance that is not healthy after so many seconds fails the rollout; default ${defaultCheck.limitMs / 1_000}.`,
      }),
    ),
  },
  { 'x-place': 'check description', description: 'When a new instance counts as healthy.' },
)

/** How the new version is brought in. All of it has defaults. */
export const planFields = {
  canary: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
      minItems: 1,
      maxItems: maxCanarySteps,
      description: `The share of the traffic in each step, in percent. It grows, and ends with 100; default ${JSON.stringify(defaultCanary)}.`,
    }),
  ),
  bake_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxBakeSeconds,
      description: `How long each step is watched, in seconds; default ${defaultBakeMs / 1_000}.`,
    }),
  ),
  check: Type.Optional(check),
  max_error_percent: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        `It goes back if more of a step's requests than this, and at least ${leastErrors}, are answered with a status ` +
        `above 499; default ${defaultMaxErrorPercent}.`,
    }),
  ),
  max_latency_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxWatchedLatencyMs,
      description: "It goes back if 95 % of a step's requests take longer than this; default no bound.",
    }),
  ),
  keep_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxKeepSeconds,
      description: `How long the old version is kept, stopped, as the way back; default ${defaultKeepMs / 1_000}.`,
    }),
  ),
}

export const createRolloutBody = closed({
  id: changeId,
  image,
  args,
  env,
  memory_mb,
  vcpus,
  add: Type.Optional(
    closed(
      { env: addedVariables },
      { description: 'Variables to be added.', 'x-place': 'what is to be added' },
    ),
  ),
  del: Type.Optional(
    closed(
      { env: removedVariables },
      { description: 'Variables to be removed.', 'x-place': 'what is to be removed' },
    ),
  ),
  clear: Type.Optional(
    Type.Array(vocabulary(clearableInRollouts, 'A property that gets its default again.'), {
      maxItems: clearableInRollouts.length,
      description: 'Properties that get their defaults again.',
    }),
  ),
  ...planFields,
  supersede: Type.Optional(
    Type.Boolean({
      description:
        'End a rollout that is under way, as if it went back; default false, which refuses this one.',
    }),
  ),
})

export const rolloutsBody = closed({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: keptRollouts,
      description: `Most rollouts of each service to return; default ${defaultRolloutCount}.`,
    }),
  ),
})
