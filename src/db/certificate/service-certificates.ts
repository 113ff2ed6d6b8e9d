import { randomUUID } from 'node:crypto'
import type { ExpressionBuilder } from 'kysely'
import { thePlatform } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { DomainKind, certifies, commonNamesFor, isWildcard } from '../../domain/service/domain-name.ts'
import { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { nameNewCertificate } from './name.ts'
import { columnOf } from '../identifiers.ts'
import type { Identifier } from '../identifiers.ts'
import type { ServiceWriter, WantedDomain } from '../service/new-service.ts'
import { Refused } from '../refused.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { now } from '../sql/time.ts'

/**
 * Chooses the certificate for a domain; null for names of the metro domain. If the request names a
 * certificate, that certificate has to fit. Otherwise one of the user's certificates that fit is taken: the
 * `present` one of the domain, if it has one, else a valid one rather than a pending one. If none fits, a new
 * certificate is requested: its row is written in state `pending`. The caller's transaction has locked the
 * user's row. Throws `Refused`.
 */
export async function chooseCertificate(
  db: Db,
  writer: ServiceWriter,
  domain: WantedDomain,
  present: string | null = null,
): Promise<string | null> {
  const { fqdn } = domain
  if (domain.kind === DomainKind.Metro) return null
  if (domain.certificate !== undefined) return givenCertificate(db, writer, domain.certificate, fqdn)
  return (await fittingCertificate(db, writer, fqdn, present)) ?? requestCertificate(db, writer, fqdn)
}

async function givenCertificate(
  db: Db,
  { userUuid }: ServiceWriter,
  given: Identifier,
  fqdn: string,
): Promise<string> {
  const [by, value] = columnOf(given)
  const found = await db
    .selectFrom('certificates')
    .select(['uuid', 'name', 'commonName'])
    .select((eb) => eb.case().when(isSpent(eb)).then(eb.ref('notAfter')).end().as('expiredAt'))
    .where('userUuid', '=', userUuid)
    .where(by, '=', value)
    .executeTakeFirst()
  if (found === undefined) throw new Refused({ kind: 'certificate-not-found', by, value })
  const { uuid, name, commonName, expiredAt } = found
  if (!certifies(commonName, fqdn)) throw new Refused({ kind: 'certificate-mismatch', commonName, fqdn })
  if (expiredAt !== null) throw new Refused({ kind: 'certificate-expired', name, at: expiredAt })
  return uuid
}

/**
 * Whether an uploaded certificate has expired. The platform does not renew it, so a new domain can not use
 * it. The condition is never null, so it can be negated.
 */
function isSpent(eb: ExpressionBuilder<Tables, 'certificates'>) {
  return eb.and([
    eb('origin', '=', CertificateOrigin.Uploaded),
    eb('notAfter', 'is not', null),
    eb('notAfter', '<=', now),
  ])
}

/**
 * The best of the user's certificates for a domain. The platform does not by itself try again to get a
 * certificate in state `error`, so a certificate in that state fits no domain.
 */
async function fittingCertificate(
  db: Db,
  { userUuid }: ServiceWriter,
  fqdn: string,
  present: string | null,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('certificates')
    .select('uuid')
    .where('userUuid', '=', userUuid)
    .where('state', '<>', CertificateState.Error)
    .where((eb) => eb.not(isSpent(eb)))
    .where('commonName', '=', anyOf(commonNamesFor(fqdn)))
    .$if(present !== null, (query) => query.orderBy((eb) => eb('uuid', '=', present!), 'desc'))
    .orderBy((eb) => eb('state', '=', CertificateState.Valid), 'desc')
    .orderBy((eb) => eb('commonName', '=', fqdn), 'desc')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.uuid
}

async function requestCertificate(db: Db, writer: ServiceWriter, fqdn: string): Promise<string> {
  if (isWildcard(fqdn)) throw new Refused({ kind: 'wildcard-without-certificate', fqdn })
  const { userUuid } = writer
  const uuid = randomUUID()
  const name = await nameNewCertificate(db, writer, { commonName: fqdn })
  const state = CertificateState.Pending
  await db.insertInto('certificates').values({ uuid, userUuid, name, commonName: fqdn, state }).execute()
  await writeEvents(db, [
    {
      ...eventObject({ uuid, name, userUuid }),
      kind: UserEventKind.CertificateCreated,
      to: state,
      why: `the domain ${fqdn} needs it`,
      asker: writer.asker ?? thePlatform,
    },
  ])
  return uuid
}
