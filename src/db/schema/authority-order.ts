import { defineEntity, p } from '@mikro-orm/postgresql'

/**
 * An order that was made with an authority. The row stays as long as the order counts against the
 * authority's limits. It outlives the certificate and its order, so it refers to no other row: a user who
 * deletes a certificate and asks for it again has used two orders.
 */
export const AuthorityOrder = defineEntity({
  name: 'AuthorityOrder',
  tableName: 'authority_orders',
  indexes: [{ name: 'authority_orders_time_index', properties: ['orderedAt'] }],
  properties: {
    number: p.bigint('number').primary().autoincrement(),
    /** The URL of the authority's directory. */
    directory: p.text(),
    userUuid: p.uuid(),
    /** Lower case, without a final dot. */
    fqdn: p.text(),
    /** Whether the certificate existed and a domain was using it. */
    isRenewal: p.boolean(),
    orderedAt: p.datetime(3),
  },
})
