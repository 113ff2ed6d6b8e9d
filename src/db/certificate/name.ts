import { certificateSuffixLength, generatedCertificateName } from '../../domain/service/name.ts'
import type { ServiceWriter } from '../service/new-service.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import { Refused } from '../refused.ts'
import type { Db } from '../schema/tables.ts'

/**
 * The most certificates that a user may have. Certificates outlive their services, so the quota of services
 * does not bound them.
 */
export const maxCertificatesPerUser = 1_000

/**
 * A name that none of the user's certificates has: the given one, or a generated one. The caller's
 * transaction has locked the user's row, so the name and the room for one more certificate stay free until
 * the commit. Throws `Refused` if the given name is taken or the user has too many certificates.
 */
export async function nameNewCertificate(
  db: Db,
  { userUuid, randomSuffix }: ServiceWriter,
  { commonName, name }: { readonly commonName: string; readonly name?: string | undefined },
): Promise<string> {
  await refuseOneTooMany(db, userUuid)
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const wanted = name ?? generatedCertificateName(commonName, randomSuffix(certificateSuffixLength))
    const taken = await db
      .selectFrom('certificates')
      .select('uuid')
      .where('userUuid', '=', userUuid)
      .where('name', '=', wanted)
      .executeTakeFirst()
    if (taken === undefined) return wanted
    if (name !== undefined) throw new Refused({ kind: 'certificate-name-taken', name })
  }
  throw new Error('no generated name of a certificate is free')
}

async function refuseOneTooMany(db: Db, userUuid: string): Promise<void> {
  const { owned } = await db
    .selectFrom('certificates')
    .select((eb) => eb.fn.countAll<number>().as('owned'))
    .where('userUuid', '=', userUuid)
    .executeTakeFirstOrThrow()
  if (owned >= maxCertificatesPerUser) {
    throw new Refused({ kind: 'too-many-certificates', limit: maxCertificatesPerUser })
  }
}
