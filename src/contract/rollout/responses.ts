import { Type } from 'typebox'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'

const serviceName = Type.String({ description: 'Name of the service.' })
const identified = { status: statusSuccess, uuid: uuidField, name: serviceName }
const instances = Type.Array(
  closed({ uuid: uuidField, name: Type.String({ description: 'Name of the instance.' }) }),
)

const checkFields = {
  path: Type.Optional(Type.String({ description: 'The path that is asked for by HTTP.' })),
  status: Type.Optional(count('The wanted status.')),
  times: count('How many checks in a row have to succeed.'),
  interval_ms: count('The time between two checks.'),
  timeout_ms: count('The longest time of one check.'),
  limit_s: count('Within so many seconds an instance has to be healthy.'),
}
const port = count("The application's port.")
const presentCheck = closed({ port, ...checkFields })

/** How a new version is brought in, as requests have it and with all defaults. */
export const presentPlanFields = {
  canary: Type.Array(count('Percent.')),
  bake_s: count('How long each step is watched.'),
  max_error_percent: Type.Number({ minimum: 0, description: 'The bound of failed requests, in percent.' }),
  max_latency_ms: Type.Optional(count('The bound of the time of requests.')),
  keep_s: count('How long the old version is kept.'),
  check: closed({ port: Type.Optional(port), ...checkFields }),
}

/** One rollout, with its plan as requests have it and with all defaults. */
export const rollout = closed({
  uuid: uuidField,
  created_at: timestampField,
  phase: vocabulary(Object.values(RolloutPhase), 'How far it is.'),
  since: timestampField,
  percent: Type.Optional(
    count('The share of the traffic that the new version gets; absent if none is divided.'),
  ),
  step: count('The number of the present step, from 1.'),
  reason: Type.Optional(Type.String({ description: 'Why it goes or went back.' })),
  changes: Type.Array(Type.String(), { description: 'What is other than before, without secrets.' }),
  kept_until: Type.Optional(timestampField),
  ended_at: Type.Optional(timestampField),
  ...presentPlanFields,
  check: presentCheck,
  new_instances: Type.Optional(instances),
  old_instances: Type.Optional(instances),
})

/** The entry of one new rollout. `uuid` and `name` are those of the service. */
export const createdRollout = closed({
  ...identified,
  id: Type.Optional(Type.String({ description: 'The `id` of the object.' })),
  rollout,
})

export const serviceRollouts = closed({
  ...identified,
  rollouts: Type.Array(rollout, { description: 'The newest first.' }),
})

export const recalledRollout = closed({ ...identified, rollout })
