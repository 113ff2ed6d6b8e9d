import { Type } from 'typebox'
import { closed, identifierFields, nameField, vocabulary } from './fields.ts'
import { maxCooldownMs, maxDomains, maxPort, maxPublishedPorts } from './limits.ts'

/**
 * The parts of an instance's creation that belong to services, volumes and scale-to-zero. They are validated in full,
 * so that what a client gets wrong today is what it would get wrong tomorrow; this release then answers that they are
 * not supported.
 */
const publishedPort = closed(
  {
    port: Type.Integer({ minimum: 1, maximum: maxPort, description: 'Public port.' }),
    destination_port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPort,
        description: 'Port of the application; the public one if absent.',
      }),
    ),
    handlers: Type.Optional(
      Type.Array(vocabulary(['tls', 'http', 'redirect'], 'Connection handler.'), {
        maxItems: 3,
        uniqueItems: true,
      }),
    ),
  },
  { 'x-place': 'service port description' },
)

const certificateReference = closed(identifierFields, { 'x-place': 'certificate description' })

const domain = closed(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Domain name; with a final dot it is taken as it is.',
    }),
    certificate: Type.Optional(certificateReference),
  },
  { 'x-place': 'domain description' },
)

export const serviceGroupRequest = closed(
  {
    ...identifierFields,
    services: Type.Optional(Type.Array(publishedPort, { maxItems: maxPublishedPorts })),
    domains: Type.Optional(Type.Array(domain, { maxItems: maxDomains })),
    soft_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPort })),
    hard_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPort })),
  },
  { 'x-place': 'service group description' },
)

export const volumeRequest = closed(
  {
    uuid: identifierFields.uuid,
    name: Type.Optional(nameField),
    size_mb: Type.Optional(Type.Integer({ minimum: 1, description: 'Size of a new volume.' })),
    at: Type.String({ minLength: 1, maxLength: 4_096, description: 'Absolute path of the mount.' }),
    readonly: Type.Optional(Type.Boolean()),
  },
  { 'x-place': 'volume description' },
)

export const scaleToZeroRequest = closed(
  {
    policy: vocabulary(['off', 'on', 'idle'], 'When the instance goes to standby.'),
    cooldown_time_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: maxCooldownMs })),
    stateful: Type.Optional(Type.Boolean()),
  },
  { 'x-place': 'scale-to-zero description' },
)
