import { defineEntity, p } from '@mikro-orm/postgresql'

/**
 * The certificate of the metro domain, as the gateway beside the API told it. Gateways on machines that
 * joined serve it. There is none in an installation of one machine.
 */
export const MetroCertificate = defineEntity({
  name: 'MetroCertificate',
  tableName: 'metro_certificates',
  properties: {
    /** The metro domain: lower case, without a final dot. */
    id: p.text().primary(),
    /** The chain, PEM, and its key, sealed by the secret box. */
    chain: p.text(),
    keySealed: p.text(),
    /** The last transaction that changed the row. A trigger writes it. */
    feedXid: p
      .string()
      .columnType('xid8')
      .defaultRaw('pg_current_xact_id()')
      .index('metro_certificates_feed_index'),
  },
})
