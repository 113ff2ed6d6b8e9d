import { Type } from 'typebox'
import { CertificateState, Handler } from '../../domain/service/handler.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'

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
