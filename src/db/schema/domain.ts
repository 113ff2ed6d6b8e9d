import { defineEntity, p } from '@mikro-orm/postgresql'
import { Certificate } from './certificate.ts'
import { Service } from './service.ts'

/** A public name of a service. Only one service of all users can have it. */
export const Domain = defineEntity({
  name: 'Domain',
  tableName: 'domains',
  properties: {
    /** Lower case, without a final dot; a wildcard begins with `*.`. */
    fqdn: p.text().primary(),
    service: () => p.manyToOne(Service).deleteRule('cascade').index('domains_service_index'),
    /** The place of the domain in its service's list, in the order of the request. */
    ordinal: p.integer(),
    /** Null for names of the metro domain. */
    certificate: () => p.manyToOne(Certificate).nullable().index('domains_certificate_index'),
  },
})
