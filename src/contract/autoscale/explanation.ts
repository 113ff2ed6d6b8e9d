import { Type } from 'typebox'
import { Standing } from '../../domain/autoscale/members.ts'
import { AutoscaleMetric } from '../../domain/autoscale/policy.ts'
import { Configured } from '../../domain/autoscale/situation.ts'
import { instanceStates } from '../../domain/instance/state.ts'
import { explanationFields, noteField } from '../explanation.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'

const amounts = closed(
  Object.fromEntries(
    Object.values(AutoscaleMetric).map((metric) => [metric, Type.Number({ minimum: 0 })]),
  ) as Record<AutoscaleMetric, ReturnType<typeof Type.Number>>,
)

const member = closed({
  uuid: uuidField,
  name: Type.String(),
  master: Type.Boolean({ description: 'Whether it is the instance that is cloned.' }),
  host: Type.String({ description: 'The host on which it is placed.' }),
  state: vocabulary(instanceStates, 'Current state.'),
  standing: vocabulary(Object.values(Standing), 'How autoscale counts it.'),
  failure: Type.Optional(Type.String({ description: 'Why it is to be replaced.' })),
  load: Type.Optional(amounts),
})

export const explainedAutoscale = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'Name of the service.' }),
  state: vocabulary(
    Object.values(Configured),
    'Whether the service has a configuration, or one that is being closed.',
  ),
  ...explanationFields,
  note: noteField,
  size: count('Instances that count.'),
  target: Type.Optional(count('The size that was decided on.')),
  members: Type.Array(member, { description: 'The master and its clones, in the order of their creation.' }),
  leaving: Type.Array(Type.String(), {
    description: 'Names of clones that were given back and still exist.',
  }),
  measured_at: Type.Optional(timestampField),
  metrics: Type.Optional(amounts),
  decisions: Type.Array(
    closed({ at: timestampField, what: Type.String({ description: 'What was decided and why.' }) }),
    { description: 'The last decisions, the newest first.' },
  ),
})
