import { defineEntity, p } from '@mikro-orm/postgresql'
import { Certificate } from './certificate.ts'

/**
 * What an attempt must not lose: the key is written before an order is asked for, the order's URL before
 * anything is done with it. A repeat after a crash finds both, so there is one order and one certificate.
 */
export const CertificateOrder = defineEntity({
  name: 'CertificateOrder',
  tableName: 'certificate_orders',
  properties: {
    certificate: () => p.oneToOne(Certificate).primary().owner().deleteRule('cascade'),
    /** Of the authority: the directory's URL, or `local`. */
    directory: p.text(),
    orderUrl: p.text().nullable(),
    /** PEM, sealed by the secret box. */
    keySealed: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
