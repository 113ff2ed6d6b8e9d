import { defineEntity, p } from '@mikro-orm/postgresql'
import { Certificate } from './certificate.ts'
import { Service } from './service.ts'

/** A public name. Whoever has it, nobody else can. */
export const Domain = defineEntity({
  name: 'Domain',
  tableName: 'domains',
  properties: {
    /** Lower case, without a final dot; a wildcard begins with `*.`. */
    fqdn: p.text().primary(),
    service: () => p.manyToOne(Service).deleteRule('cascade').index('domains_service_index'),
    /** The order in which they were given. */
    ordinal: p.integer(),
    /** Absent for names of the metro domain. */
    certificate: () => p.manyToOne(Certificate).nullable().index('domains_certificate_index'),
  },
})
