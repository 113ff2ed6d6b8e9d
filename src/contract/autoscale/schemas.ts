import { Type } from 'typebox'
import { AdjustmentType, AutoscaleMetric, defaultAutoscale } from '../../domain/autoscale/policy.ts'
import { trialTimes } from '../../domain/autoscale/trial.ts'
import type { TrialTime } from '../../domain/autoscale/trial.ts'
import {
  adjustmentRange,
  boundRange,
  exactAlias,
  maxPoliciesPerService,
  maxPolicyNameLength,
  maxStepsPerPolicy,
} from '../../domain/autoscale/steps.ts'
import {
  closed,
  count,
  identifier,
  nameField,
  statusSuccess,
  timestampField,
  uuidField,
  vocabulary,
  withinLimits,
} from '../fields.ts'
import { maxAutoscaleTimeMs } from '../limits.ts'
import { atLeastOne } from '../openapi/published-rules.ts'

// The schemas of requests and answers about autoscale. `src/domain/autoscale/steps.ts` checks whether the
// steps of a policy follow each other, and the account's limits bound the sizes. So each of these rules has
// only one sentence for the user. The OpenAPI document contains these rules as far as JSON Schema can
// express them.

const policyType = vocabulary(['step'], 'The one type of policy that there is.')
const metricText = `What is looked at, as the mean per instance: \`${AutoscaleMetric.Cpu}\` in millicores, requests and connections in flight, or those finished per second`
const adjustmentTypeText =
  'Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent'

const bounds = ({ min, max }: { readonly min: number; readonly max: number }) => ({
  minimum: min,
  maximum: max,
})

const bound = (side: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ 'x-published': bounds(boundRange) }), Type.Null()], {
      description: `${side}, from ${boundRange.min} to ${boundRange.max}; absent or null: open on this side.`,
    }),
  )

const writtenStep = closed(
  {
    lower_bound: bound('Least value of the step'),
    upper_bound: bound('Where the step ends; the value itself belongs to the next one'),
    adjustment: Type.Integer({
      'x-published': bounds(adjustmentRange),
      description: `From ${adjustmentRange.min} to ${adjustmentRange.max}; negative ones give instances back.`,
    }),
  },
  { 'x-place': 'autoscale step description', 'x-published': atLeastOne(['lower_bound', 'upper_bound']) },
)

export const addPolicyBody = closed(
  {
    name: { ...nameField, 'x-published': { maxLength: maxPolicyNameLength } },
    type: policyType,
    metric: Type.Optional(
      vocabulary(Object.values(AutoscaleMetric), `${metricText}; default ${AutoscaleMetric.Cpu}.`),
    ),
    adjustment_type: Type.Optional(
      vocabulary(
        [...Object.values(AdjustmentType), exactAlias],
        `${adjustmentTypeText}; default ${AdjustmentType.Change}. \`${exactAlias}\` is another word for \`${AdjustmentType.Exact}\`.`,
      ),
    ),
    steps: Type.Array(writtenStep, {
      maxItems: maxStepsPerPolicy,
      'x-published': { minItems: 1 },
      description: 'Ascending, without gap or overlap.',
    }),
  },
  { 'x-place': 'autoscale policy description' },
)

const time = (text: string, defaultMs: number) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: maxAutoscaleTimeMs, description: `${text}; default ${defaultMs}.` }),
  )

const sizeLimits = 'limits.min_autoscale_size` to `limits.max_autoscale_size'

const wishes = {
  min_size: Type.Optional(withinLimits(`Fewest instances; default ${defaultAutoscale.minSize}.`, sizeLimits)),
  max_size: Type.Optional(withinLimits(`Most instances; default ${defaultAutoscale.maxSize}.`, sizeLimits)),
  warmup_time_ms: time(
    'How long a new instance runs before it counts for the metric',
    defaultAutoscale.warmupMs,
  ),
  cooldown_time_ms: time(
    'How long an instance that is given back may drain at most',
    defaultAutoscale.cooldownMs,
  ),
  policies: Type.Optional(
    Type.Array(addPolicyBody, { maxItems: maxPoliciesPerService, description: 'Policies to begin with.' }),
  ),
}

export const createAutoscaleBody = closed({
  ...wishes,
  master: identifier({
    'x-place': 'autoscale master description',
    description: 'The instance that is cloned. It is attached to the service.',
  }),
})

const trialTime = vocabulary(
  Object.keys(trialTimes) as readonly TrialTime[],
  'The recorded time: the last hour by steps of 5 s, or the last day by steps of 5 min; default `1h`.',
)

export const tryAutoscaleBody = closed({ ...wishes, last: Type.Optional(trialTime) })

const amounts = closed(
  Object.fromEntries(
    Object.values(AutoscaleMetric).map((metric) => [metric, Type.Number({ description: `By ${metric}.` })]),
  ) as Record<AutoscaleMetric, ReturnType<typeof Type.Number>>,
)

export const triedAutoscale = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'Name of the service.' }),
  last: trialTime,
  step_ms: count('Length of a step.'),
  text: Type.String({ description: 'The result in sentences.' }),
  instance_seconds: count('Instance seconds that there would have been, with starting and draining ones.'),
  ran_instance_seconds: Type.Number({ description: 'Instance seconds that there were.' }),
  smallest_size: count('The fewest instances that there would have been.'),
  largest_size: count('The most instances that there would have been.'),
  resizes: count('How many times the size would have changed.'),
  short_seconds: Type.Number({
    description: 'Instance seconds that were missing to what the policies want.',
  }),
  spare_seconds: Type.Number({ description: 'Instance seconds beyond what the policies want.' }),
  saturated_seconds: Type.Number({
    description:
      'For how long the instances that ran used nearly all their processors: more may have been asked of them.',
  }),
  steps: Type.Array(
    closed({
      at: timestampField,
      load: Type.Unsafe<Record<AutoscaleMetric, number>>(amounts),
      metrics: Type.Optional(Type.Unsafe<Record<AutoscaleMetric, number>>(amounts)),
      size: count('Instances that there would have been at the end of the step.'),
      ran: Type.Number({ description: 'Instances that ran, in the mean.' }),
    }),
    { description: '`load` is that of all instances together, `metrics` what each would have had.' },
  ),
  decisions: Type.Array(closed({ at: timestampField, what: Type.String() }), {
    description: 'What would have been decided and why, the first 500.',
  }),
})

const serviceName = Type.String({ description: 'Name of the service.' })
export const changedAutoscale = closed({ status: statusSuccess, uuid: uuidField, name: serviceName })

const policyName = Type.String({
  description: `Name of the policy, at most ${maxPolicyNameLength} characters.`,
})

/**
 * A step in an answer. A bound is left out if the step is open on that side, because clients do not accept
 * null.
 */
const step = closed({
  lower_bound: Type.Optional(count('Least value of the step.')),
  upper_bound: Type.Optional(count('Where the next step begins.')),
  adjustment: Type.Integer(),
})

const policy = {
  name: policyName,
  type: policyType,
  enabled: Type.Boolean(),
  metric: vocabulary(Object.values(AutoscaleMetric), `${metricText}.`),
  adjustment_type: vocabulary(Object.values(AdjustmentType), `${adjustmentTypeText}.`),
  steps: Type.Array(step),
}

export const changedPolicy = closed({ status: statusSuccess, name: policyName })
export const policyDetails = closed({ status: statusSuccess, ...policy })

/** How a service is scaled. A service without a configuration has only `uuid` and `name`. */
export const autoscaleDetails = closed({
  status: vocabulary(['success', 'unconfigured'], 'Whether there is a configuration.'),
  uuid: uuidField,
  name: serviceName,
  enabled: Type.Optional(Type.Boolean({ description: 'Autoscale is enabled.' })),
  min_size: Type.Optional(count('Fewest instances.')),
  max_size: Type.Optional(count('Most instances.')),
  warmup_time_ms: Type.Optional(count('Time before a new instance counts for the metric.')),
  cooldown_time_ms: Type.Optional(count('The most time to drain of one that is given back.')),
  master: Type.Optional(closed({ uuid: uuidField, name: Type.String() })),
  policies: Type.Optional(Type.Array(closed(policy))),
})
