import { Type } from 'typebox'
import { StartKind } from '../../domain/instance/start-report.ts'
import { instanceStates } from '../../domain/instance/state.ts'
import { ServiceProperty } from '../../domain/service/change.ts'
import { CertificateState, Handler } from '../../domain/service/handler.ts'
import { statusClasses } from '../../domain/service/service-traffic.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'
import { usageHistory } from '../usage.ts'

const serviceName = Type.String({ description: 'Name of the service.' })

const certificate = closed({
  uuid: uuidField,
  name: Type.String(),
  state: vocabulary(Object.values(CertificateState), 'State of the certificate.'),
})

const domains = Type.Array(
  closed({
    fqdn: Type.String({ description: 'Without a final dot.' }),
    certificate: Type.Optional(certificate),
  }),
  { description: 'Subdomains of the metro domain have no certificate of their own.' },
)

/** The service to which an instance is attached. */
export const attachedService = closed(
  { uuid: uuidField, name: serviceName, domains },
  { description: 'Only where it is attached to one.' },
)

export const serviceIdentity = closed({ uuid: uuidField, name: serviceName })
export const createdService = closed({ status: statusSuccess, uuid: uuidField, name: serviceName, domains })

/** The entry of one object of a request. Several objects may be about the same service. */
export const updatedService = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: serviceName,
  id: Type.Optional(Type.String({ description: 'The `id` of the object.' })),
  changed: Type.Array(
    vocabulary(Object.values(ServiceProperty), 'A property that is not as it was before the request.'),
    { description: 'What all objects about the service have changed together.' },
  ),
  domains,
})
export const deletedService = closed({ status: statusSuccess, uuid: uuidField, name: serviceName })

/** The entry with all fields of a service. `status` is left out if all services are listed. */
export const serviceDetails = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: serviceName,
  created_at: Type.Optional(timestampField),
  persistent: Type.Optional(Type.Boolean({ description: 'It stays when its last instance is gone.' })),
  autoscale: Type.Optional(Type.Boolean({ description: 'Autoscale is enabled.' })),
  soft_limit: Type.Optional(count('Load of one instance above which the next one is woken.')),
  hard_limit: Type.Optional(count('The most load of one instance.')),
  services: Type.Optional(
    Type.Array(
      closed({
        port: count('Public port.'),
        destination_port: count('Port of the application; of a redirect, where it leads.'),
        handlers: Type.Array(vocabulary(Object.values(Handler), 'Connection handler.')),
      }),
    ),
  ),
  domains: Type.Optional(domains),
  instances: Type.Optional(Type.Array(closed({ uuid: uuidField, name: Type.String() }))),
})

const time = Type.Number({ minimum: 0, description: 'Seconds in all.' })

export const serviceUsage = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: serviceName,
  ...usageHistory,
})

/** What the gateways counted is since the start of each gateway. */
export const serviceMetrics = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: serviceName,
  instances: closed(
    Object.fromEntries(instanceStates.map((state) => [state, count(`Instances that are ${state}.`)])),
    { description: 'Instances by state.' },
  ),
  requests: closed(
    Object.fromEntries(statusClasses.map((each) => [each, count(`Answers with status ${each}.`)])),
    { description: 'Answered requests by class of status; 499: the client left before.' },
  ),
  request_seconds: time,
  request_durations: Type.Array(
    closed({
      within_seconds: Type.Number({ description: 'A bound of durations.' }),
      count: count('Requests that took no longer.'),
    }),
    {
      description:
        'How many requests took how long, from the shortest bound on. Those above all are in `requests` alone.',
    },
  ),
  wakes: closed(
    Object.fromEntries(
      Object.values(StartKind).map((kind) => [kind, closed({ count: count('Wakes.'), seconds: time })]),
    ),
    { description: 'Wakes for traffic of the service, by how the VM came up.' },
  ),
})
