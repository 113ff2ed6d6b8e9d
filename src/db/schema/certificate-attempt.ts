import { defineEntity, p } from '@mikro-orm/postgresql'
import { Certificate } from './certificate.ts'

/**
 * What was seen in one attempt, so that the certificate's owner can learn why the attempt failed. The last
 * attempts of each certificate are kept.
 */
export const CertificateAttempt = defineEntity({
  name: 'CertificateAttempt',
  tableName: 'certificate_attempts',
  uniques: [{ name: 'certificate_attempts_number_unique', properties: ['certificate', 'number'] }],
  properties: {
    position: p.bigint('number').primary().autoincrement(),
    certificate: () => p.manyToOne(Certificate).deleteRule('cascade'),
    /** Counts from 1 over the whole life of the certificate. */
    number: p.integer(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    /** Null while the attempt lasts. */
    endedAt: p.datetime(3).nullable(),
    report: p.json<Readonly<Record<string, unknown>>>(),
  },
})
