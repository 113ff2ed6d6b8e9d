import { defineEntity, p } from '@mikro-orm/postgresql'

/**
 * An order that was made with an authority, for as long as it counts against the authority's limits. It
 * outlives the certificate and its order: who deletes a certificate and asks for it again has used two. So it
 * refers to no other row.
 */
export const AuthorityOrder = defineEntity({
  name: 'AuthorityOrder',
  tableName: 'authority_orders',
  indexes: [{ name: 'authority_orders_time_index', properties: ['orderedAt'] }],
  properties: {
    number: p.bigint('number').primary().autoincrement(),
    /** Of the authority: the directory's URL. */
    directory: p.text(),
    userUuid: p.uuid(),
    /** Lower case, without a final dot. */
    fqdn: p.text(),
    /** Of a certificate that a domain was using. */
    isRenewal: p.boolean(),
    orderedAt: p.datetime(3),
  },
})
