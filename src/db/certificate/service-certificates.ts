import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainKind, certifies, commonNamesFor, isWildcard } from '../../domain/service/domain-name.ts'
import { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import { nameNewCertificate } from './name.ts'
import { Certificate } from '../schema/certificate.ts'
import type { Identifier } from '../instance/instances.ts'
import type { ServiceWriter, WantedDomain } from '../service/new-service.ts'
import { Refused } from '../refused.ts'

/**
 * The certificate that a domain is served with; null for names of the metro domain. One that is given has to
 * fit; else one of the user's that fits is taken, a valid one before one that is still pending; else a new
 * one is requested, which is a row in state pending. In a transaction that has the user's row locked.
 */
export async function chooseCertificate(
  em: EntityManager,
  writer: ServiceWriter,
  domain: WantedDomain,
): Promise<string | null> {
  if (domain.kind === DomainKind.Metro) return null
  if (domain.certificate !== undefined) return givenCertificate(em, writer, domain.certificate, domain.fqdn)
  return (await fittingCertificate(em, writer, domain.fqdn)) ?? requestCertificate(em, writer, domain.fqdn)
}

async function givenCertificate(
  em: EntityManager,
  { userUuid }: ServiceWriter,
  given: Identifier,
  fqdn: string,
): Promise<string> {
  const [by, value] = 'uuid' in given ? (['uuid', given.uuid] as const) : (['name', given.name] as const)
  const [found] = await em.execute<
    { uuid: string; name: string; commonName: string; expiredAt: string | null }[]
  >(
    `select uuid, name, common_name as "commonName", case when ${isSpent} then not_after end as "expiredAt"
     from certificates where user_uuid = ? and ${by} = ?`,
    [userUuid, value],
  )
  if (found === undefined) throw new Refused({ kind: 'certificate-not-found', by, value })
  const { uuid, name, commonName, expiredAt } = found
  if (!certifies(commonName, fqdn)) throw new Refused({ kind: 'certificate-mismatch', commonName, fqdn })
  if (expiredAt !== null) throw new Refused({ kind: 'certificate-expired', name, at: new Date(expiredAt) })
  return uuid
}

/** Nobody renews what its owner brought, so one that has expired is of no use to a new domain. */
const isSpent = `(origin = '${CertificateOrigin.Uploaded}' and not_after is not null and not_after <= now())`

/** One in state `error` is not tried again by itself, so it fits nothing. */
async function fittingCertificate(
  em: EntityManager,
  { userUuid }: ServiceWriter,
  fqdn: string,
): Promise<string | undefined> {
  const names = commonNamesFor(fqdn)
  const [found] = await em.execute<{ uuid: string }[]>(
    `select uuid from certificates
     where user_uuid = ? and state <> ? and not ${isSpent} and common_name in (${names.map(() => '?').join(', ')})
     order by state = ? desc, common_name = ? desc, position desc limit 1`,
    [userUuid, CertificateState.Error, ...names, CertificateState.Valid, fqdn],
  )
  return found?.uuid
}

async function requestCertificate(em: EntityManager, writer: ServiceWriter, fqdn: string): Promise<string> {
  if (isWildcard(fqdn)) throw new Refused({ kind: 'wildcard-without-certificate', fqdn })
  const uuid = randomUUID()
  const name = await nameNewCertificate(em, writer, { commonName: fqdn })
  const state = CertificateState.Pending
  await em.insertMany(Certificate, [{ uuid, user: writer.userUuid, name, commonName: fqdn, state }])
  return uuid
}
