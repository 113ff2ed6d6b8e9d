import { defineEntity, p } from '@mikro-orm/postgresql'
import { Certificate } from './certificate.ts'

/** What was seen in one attempt, so that its owner can be told why. The last ones are kept. */
export const CertificateAttempt = defineEntity({
  name: 'CertificateAttempt',
  tableName: 'certificate_attempts',
  uniques: [{ name: 'certificate_attempts_number_unique', properties: ['certificate', 'number'] }],
  properties: {
    position: p.bigint('number').primary().autoincrement(),
    certificate: () => p.manyToOne(Certificate).deleteRule('cascade'),
    /** Over the whole life of the certificate, from 1. */
    number: p.integer(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    /** Null while it lasts. */
    endedAt: p.datetime(3).nullable(),
    report: p.json<Readonly<Record<string, unknown>>>(),
  },
})
