import { Type } from 'typebox'
import { domainNamePattern, maxDomainLength } from '../../domain/service/domain-name.ts'
import { ScaleToZeroPolicy, defaultCooldownMs } from '../../domain/standby/scale-to-zero.ts'
import { ServiceProperty } from '../../domain/service/change.ts'
import { Handler, defaultHardLimit, defaultSoftLimit } from '../../domain/service/handler.ts'
import { changeId, closed, identifier, identifierFields, nameField, vocabulary } from '../fields.ts'
import { maxConnectionLimit, maxCooldownMs, maxDomains, maxPort, maxPublishedPorts } from '../limits.ts'
import { identifierOr } from '../openapi/published-rules.ts'

// The schemas of requests about services and scale-to-zero.

const publicPort = Type.Integer({ minimum: 1, maximum: maxPort, description: 'Public port.' })

const publishedPort = closed(
  {
    port: publicPort,
    destination_port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPort,
        description: 'Port of the application; the public one if absent, and 443 for a redirect.',
      }),
    ),
    handlers: Type.Optional(
      Type.Array(vocabulary(Object.values(Handler), 'Connection handler.'), {
        maxItems: Object.values(Handler).length,
        uniqueItems: true,
        description: 'Default: http on port 80, tls and http on port 443, tls on every other.',
      }),
    ),
  },
  { 'x-place': 'service port description' },
)

const certificateReference = identifier({ 'x-place': 'certificate description' })

// The longest name and two final dots: one that the user wrote, and one that clients append.
const domainTextBounds = { minLength: 1, maxLength: maxDomainLength + 2 }

const domain = closed(
  {
    name: Type.String({
      ...domainTextBounds,
      'x-published': { pattern: domainNamePattern },
      description: 'Domain name; with a final dot it is taken as it is, else the metro domain is appended.',
    }),
    certificate: Type.Optional(certificateReference),
  },
  { 'x-place': 'domain description' },
)

const connectionLimit = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: maxConnectionLimit, description }))

const newService = {
  services: Type.Optional(
    Type.Array(publishedPort, { maxItems: maxPublishedPorts, description: 'Published ports.' }),
  ),
  domains: Type.Optional(
    Type.Array(domain, {
      maxItems: maxDomains,
      description: 'Default with ports: one derived from the name.',
    }),
  ),
  soft_limit: connectionLimit(
    `Requests or connections of one instance above which the next one is woken; default ${defaultSoftLimit}.`,
  ),
  hard_limit: connectionLimit(`The most that one instance gets; default ${defaultHardLimit}.`),
}

export const createServiceBody = closed({ name: Type.Optional(nameField), ...newService })

/** Names an existing service, or describes a new one, which gets a generated name. */
export const serviceGroupRequest = closed(
  { ...identifierFields, ...newService },
  {
    'x-place': 'service group description',
    'x-published': identifierOr({ lists: ['services', 'domains'], values: ['soft_limit', 'hard_limit'] }),
  },
)

/** A domain that is taken away can also be named as answers have it, which is without a final dot. */
const heldDomain = Type.String({
  ...domainTextBounds,
  description: 'Domain name, as in a request or as `fqdn` in an answer.',
})

/** What is added to a service and taken from it has at most as many elements as a service can have. */
const portList = { maxItems: maxPublishedPorts }
const domainList = { maxItems: maxDomains }

/** The changes of one service, beside its identifier. What is left out stays as it is. */
export const updateServiceBody = closed({
  id: changeId,
  soft_limit: newService.soft_limit,
  hard_limit: newService.hard_limit,
  services: Type.Optional(
    Type.Array(publishedPort, { ...portList, description: 'The ports that replace the present ones.' }),
  ),
  domains: Type.Optional(
    Type.Array(domain, { ...domainList, description: 'The domains that replace the present ones.' }),
  ),
  add: Type.Optional(
    closed({
      services: Type.Optional(
        Type.Array(publishedPort, {
          ...portList,
          description: 'Ports that are published as well, or in another way than at present.',
        }),
      ),
      domains: Type.Optional(
        Type.Array(domain, {
          ...domainList,
          description: 'Further domains, and domains that get another certificate.',
        }),
      ),
    }),
  ),
  del: Type.Optional(
    closed({
      services: Type.Optional(
        Type.Array(Type.Union([publicPort, publishedPort]), {
          ...portList,
          description: 'Ports that are not published any more; of an object only `port` counts.',
        }),
      ),
      domains: Type.Optional(
        Type.Array(Type.Union([heldDomain, closed({ ...domain.properties, name: heldDomain })]), {
          ...domainList,
          description: 'Domains that are taken away; of an object only `name` counts. Certificates stay.',
        }),
      ),
    }),
  ),
  clear: Type.Optional(
    Type.Array(
      vocabulary(
        Object.values(ServiceProperty),
        'A limit gets its default again; `services` and `domains` become empty.',
      ),
      { maxItems: Object.values(ServiceProperty).length },
    ),
  ),
})

export const serviceFilterBody = closed({
  persistent: Type.Optional(Type.Boolean({ description: 'Only services that are, or are not, persistent.' })),
  fqdn: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxDomainLength + 2,
      description: 'Only the service with exactly this domain.',
    }),
  ),
})

const standbyPolicy = vocabulary(Object.values(ScaleToZeroPolicy), 'When the instance goes to standby.')
const standbySettings = {
  cooldown_time_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxCooldownMs,
      description: `Time without traffic before standby; default ${defaultCooldownMs}.`,
    }),
  ),
  stateful: Type.Optional(
    Type.Boolean({ description: 'Keep memory and connections in a snapshot; default false.' }),
  ),
}

export const scaleToZeroRequest = closed(
  { policy: standbyPolicy, ...standbySettings },
  { 'x-place': 'scale-to-zero description' },
)

/** In a change, what is left out stays as it is. */
export const scaleToZeroChange = closed(
  { policy: Type.Optional(standbyPolicy), ...standbySettings },
  { 'x-place': 'scale-to-zero description' },
)
