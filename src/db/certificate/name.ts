import type { EntityManager } from '@mikro-orm/postgresql'
import { certificateSuffixLength, generatedCertificateName } from '../../domain/service/name.ts'
import type { ServiceWriter } from '../service/new-service.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import { Refused } from '../refused.ts'

/**
 * Certificates outlive their services, so that nothing but this bounds how many a user makes by creating
 * domains.
 */
export const maxCertificatesPerUser = 1_000

/**
 * A name that none of the user's certificates has: the given one, or a generated one. In a transaction that
 * has the user's row locked, so that it stays free until the commit, as does the room for one more. Throws
 * `Refused`.
 */
export async function nameNewCertificate(
  em: EntityManager,
  { userUuid, randomSuffix }: ServiceWriter,
  { commonName, name }: { readonly commonName: string; readonly name?: string | undefined },
): Promise<string> {
  await refuseOneTooMany(em, userUuid)
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const wanted = name ?? generatedCertificateName(commonName, randomSuffix(certificateSuffixLength))
    const [taken] = await em.execute<object[]>(
      'select 1 from certificates where user_uuid = ? and name = ?',
      [userUuid, wanted],
    )
    if (taken === undefined) return wanted
    if (name !== undefined) throw new Refused({ kind: 'certificate-name-taken', name })
  }
  throw new Error('no generated name of a certificate is free')
}

async function refuseOneTooMany(em: EntityManager, userUuid: string): Promise<void> {
  const [owned] = await em.execute<{ count: number }[]>(
    'select count(*)::int as count from certificates where user_uuid = ?',
    [userUuid],
  )
  if ((owned?.count ?? 0) >= maxCertificatesPerUser) {
    throw new Refused({ kind: 'too-many-certificates', limit: maxCertificatesPerUser })
  }
}
