import { Type } from 'typebox'
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
})
