import { Type } from 'typebox'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { ServiceReach } from '../../domain/service/explanation.ts'
import { explanationFields } from '../explanation.ts'
import { closed, count, statusSuccess, uuidField, vocabulary } from '../fields.ts'

const does = Type.String({ description: 'What it does at present, as a phrase after its name.' })

export const explainedService = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'Name of the service.' }),
  state: vocabulary(
    Object.values(ServiceReach),
    'What a request meets: an awake instance, one that starts, one that sleeps, a silent host, or nothing.',
  ),
  ...explanationFields,
  services: Type.Array(closed({ port: count('Public port.'), does })),
  domains: Type.Array(closed({ fqdn: Type.String({ description: 'Without a final dot.' }), does })),
  instances: Type.Array(closed({ uuid: uuidField, name: Type.String(), does })),
  rollout: Type.Optional(
    closed(
      {
        phase: vocabulary(Object.values(RolloutPhase), 'How far it is.'),
        percent: Type.Optional(
          count('The share of the traffic that the new version gets; absent if none is divided.'),
        ),
        now: Type.String({ description: 'What it does, and what it waits for.' }),
        next: Type.String({ description: 'What comes next.' }),
      },
      { description: 'The rollout that is under way, or that keeps the old version as the way back.' },
    ),
  ),
})
