import { defineEntity, p } from '@mikro-orm/postgresql'
import { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import { User } from './user.ts'

/**
 * A certificate of a custom domain. The metro domain's own certificate is a file of the platform. The
 * content (`chain` to `notAfter`) is written by the upload or the first installation, and each renewal
 * replaces it, all at once.
 */
export const Certificate = defineEntity({
  name: 'Certificate',
  tableName: 'certificates',
  indexes: [
    { name: 'certificates_page_index', properties: ['user', 'position'] },
    {
      name: 'certificates_unstarted_index',
      expression:
        "create index certificates_unstarted_index on certificates (created_at) where origin = 'requested' and workflow_started_at is null",
    },
  ],
  uniques: [{ name: 'certificates_name_unique', properties: ['user', 'name'] }],
  properties: {
    uuid: p.uuid().primary(),
    position: p.bigint('number').autoincrement(),
    user: () => p.manyToOne(User),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    origin: p.enum(() => CertificateOrigin).default(CertificateOrigin.Requested),
    workflowStartedAt: p.datetime(3).nullable(),
    /** Lower case, without a final dot. */
    commonName: p.text(),

    /** The chain, PEM, and its key, sealed by the secret box. Both are set in state `valid`. */
    chain: p.text().nullable(),
    keySealed: p.text().nullable(),
    subject: p.text().nullable(),
    issuer: p.text().nullable(),
    /** The serial number in hexadecimal, upper case. */
    serialNumber: p.text().nullable(),
    notBefore: p.datetime(3).nullable(),
    notAfter: p.datetime(3).nullable(),

    state: p.enum(() => CertificateState),
    /** From here to `failure`, and with `state`: the projection of the life, which the workflow writes. */
    revision: p.bigint('number').default(0),
    attempt: p.integer().default(0),
    nextAt: p.datetime(3).nullable(),
    failure: p.text().nullable(),
    /**
     * The last transaction that changed anything that the route feed shows of this row. A trigger writes it.
     */
    feedXid: p
      .string()
      .columnType('xid8')
      .defaultRaw('pg_current_xact_id()')
      .index('certificates_feed_index'),
  },
})
