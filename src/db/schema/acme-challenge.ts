import { defineEntity, p } from '@mikro-orm/postgresql'
import { ChallengeKind } from '../../domain/service/route-feed.ts'
import { Certificate } from './certificate.ts'

/** A challenge that gateways answer to an authority as long as the attempt lasts. */
export const AcmeChallenge = defineEntity({
  name: 'AcmeChallenge',
  tableName: 'acme_challenges',
  properties: {
    /** The token, by which an authority asks for the challenge. */
    id: p.text().primary(),
    certificate: () =>
      p.manyToOne(Certificate).deleteRule('cascade').index('acme_challenges_certificate_index'),
    kind: p.enum(() => ChallengeKind),
    fqdn: p.text(),
    keyAuthorization: p.text(),
    /**
     * Only with `tls-alpn-01`: the certificate that answers the challenge, PEM, and its key, sealed by the
     * secret box.
     */
    chain: p.text().nullable(),
    keySealed: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /**
     * The last transaction that changed anything that the route feed shows of this row. A trigger writes it.
     */
    feedXid: p
      .string()
      .columnType('xid8')
      .defaultRaw('pg_current_xact_id()')
      .index('acme_challenges_feed_index'),
  },
})
