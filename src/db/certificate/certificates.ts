import { selectCertificates } from './row.ts'
import type { CertificateRow } from './row.ts'
import { certificateSettings, certificateSettingsColumns } from './settings.ts'
import type { CertificateSettings } from '../../domain/certificate/settings.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import type { Database } from '../database.ts'
import { inOrderOf, pageBounds, splitIdentifiers } from '../identifiers.ts'
import type { Identifier, ListPage } from '../identifiers.ts'
import { constant } from '../sql/constants.ts'
import { anyOf } from '../sql/lists.ts'

/** The conditions on certificates in a list. An empty filter lets all pass. */
export interface CertificateFilter {
  /** The common name in the form of the row: lower case, without a final dot. */
  readonly commonName?: string
}

/**
 * The user's certificates, in the order of `identifiers`; undefined for each one that the user does not
 * have.
 */
export async function findCertificates(
  { db }: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (CertificateRow | undefined)[]> {
  const { uuids, names } = splitIdentifiers(identifiers)
  const rows = await selectCertificates(db)
    .where('userUuid', '=', userUuid)
    .where((eb) => eb.or([eb('uuid', '=', anyOf(uuids)), eb('name', '=', anyOf(names))]))
    .execute()
  return inOrderOf(identifiers, rows)
}

/** The user's certificates in the order of their creation. */
export async function listCertificates(
  { db }: Database,
  userUuid: string,
  page: ListPage = {},
): Promise<readonly CertificateRow[]> {
  const { side, position, direction } = pageBounds(page)
  return selectCertificates(db)
    .where('userUuid', '=', userUuid)
    .where('position', side, position)
    .orderBy('position', direction)
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}

/** Names of the user's certificates that pass any of the filters; all names if there is no filter. */
export async function listCertificateNames(
  { db }: Database,
  userUuid: string,
  { filters, ...page }: ListPage & { readonly filters: readonly CertificateFilter[] },
): Promise<readonly Pick<CertificateRow, 'uuid' | 'name'>[]> {
  const commonNames = filters.flatMap(({ commonName }) => commonName ?? [])
  const allPass = filters.length === 0 || commonNames.length < filters.length
  return db
    .selectFrom('certificates')
    .select(['uuid', 'name'])
    .where('userUuid', '=', userUuid)
    .where('position', '>', page.afterPosition ?? 0)
    .$if(!allPass, (query) => query.where('commonName', '=', anyOf(commonNames)))
    .orderBy('position')
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}

/**
 * How many chains are read. Certificates of one issuer have the same certificates above them, so a few are
 * enough.
 */
const maxChainsOfIssuer = 3

/** The chains, PEM, of the user's newest certificates from this issuer. */
export async function chainsOfIssuer(
  { db }: Database,
  userUuid: string,
  issuer: string,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('certificates')
    .select((eb) => eb.ref('chain').$notNull().as('chain'))
    .where('userUuid', '=', userUuid)
    .where('issuer', '=', issuer)
    .where('chain', 'is not', null)
    .orderBy('position', 'desc')
    .limit(maxChainsOfIssuer)
    .execute()
  return rows.map(({ chain }) => chain)
}

/** Those of these certificates that were requested and whose workflow is not known to have been started. */
export async function unstartedCertificates(
  { db }: Database,
  uuids: readonly string[],
): Promise<readonly CertificateSettings[]> {
  if (uuids.length === 0) return []
  const rows = await db
    .selectFrom('certificates')
    .select(certificateSettingsColumns)
    .where('uuid', '=', anyOf(uuids))
    .where('origin', '=', constant(CertificateOrigin.Requested))
    .where('workflowStartedAt', 'is', null)
    .execute()
  return rows.map(certificateSettings)
}
