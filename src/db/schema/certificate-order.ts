import { defineEntity, p } from '@mikro-orm/postgresql'
import { Certificate } from './certificate.ts'

/**
 * The order of an attempt, which a crash must not lose. The key is written before the order is asked for,
 * and the order's URL before it is used. A repeat after a crash finds both, so there is one order and one
 * certificate.
 */
export const CertificateOrder = defineEntity({
  name: 'CertificateOrder',
  tableName: 'certificate_orders',
  properties: {
    certificate: () => p.oneToOne(Certificate).primary().owner().deleteRule('cascade'),
    /** The URL of the authority's directory, or `local`. */
    directory: p.text(),
    orderUrl: p.text().nullable(),
    /** The certificate's new key, PEM, sealed by the secret box. */
    keySealed: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
