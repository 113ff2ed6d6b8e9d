import { isUuid } from '../../domain/object-name.ts'
import { certificateColumns } from './row.ts'
import type { CertificateRow } from './row.ts'
import { certificateSettings, certificateSettingsColumns } from './settings.ts'
import type { CertificateSettingsRow } from './settings.ts'
import type { CertificateSettings } from '../../domain/certificate/settings.ts'
import type { Database } from '../database.ts'
import type { Identifier, ListPage } from '../instance/instances.ts'

/** What a certificate must be to be listed; a filter with nothing lets all pass. */
export interface CertificateFilter {
  /** As the row has it. */
  readonly commonName?: string
}

/**
 * The user's certificates, in the order of `identifiers`; undefined for each that this user does not have.
 */
export async function findCertificates(
  database: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (CertificateRow | undefined)[]> {
  const uuids = identifiers.flatMap((one) => ('uuid' in one && isUuid(one.uuid) ? [one.uuid] : []))
  const names = identifiers.flatMap((one) => ('name' in one ? [one.name] : []))
  const rows = await database.rows<CertificateRow>({
    name: 'find-certificates',
    text: `select ${certificateColumns} from certificates
           where user_uuid = $1 and (uuid = any($2::uuid[]) or name = any($3::text[]))`,
    values: [userUuid, uuids, names],
  })
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))
  return identifiers.map((one) => ('uuid' in one ? byUuid.get(one.uuid.toLowerCase()) : byName.get(one.name)))
}

/** The user's certificates in the order of their creation. */
export async function listCertificates(
  database: Database,
  userUuid: string,
  page: ListPage = {},
): Promise<readonly CertificateRow[]> {
  return database.rows<CertificateRow>({
    name: 'list-certificates',
    text: `select ${certificateColumns} from certificates where user_uuid = $1 and position > $4
           order by position limit $2 offset $3`,
    values: pageValues(userUuid, page),
  })
}

/** Names of the user's certificates that pass any of the filters; without a filter, of all. */
export async function listCertificateNames(
  database: Database,
  userUuid: string,
  { filters, ...page }: ListPage & { readonly filters: readonly CertificateFilter[] },
): Promise<readonly Pick<CertificateRow, 'uuid' | 'name'>[]> {
  const any = filters.length === 0 ? [{}] : filters
  return database.rows<Pick<CertificateRow, 'uuid' | 'name'>>({
    name: 'list-certificate-names',
    text: `select uuid, name from certificates where user_uuid = $1 and position > $4
             and exists (select 1 from unnest($5::text[]) as wanted (common_name)
               where wanted.common_name is null or wanted.common_name = certificates.common_name)
           order by position limit $2 offset $3`,
    values: [
      ...pageValues(userUuid, page),
      any.map((filter: CertificateFilter) => filter.commonName ?? null),
    ],
  })
}

function pageValues(userUuid: string, page: ListPage): readonly unknown[] {
  return [userUuid, page.count ?? null, page.from ?? 0, page.afterPosition ?? 0]
}

/** How many are looked at: those of one issuer have the same certificates above them. */
const maxChainsOfIssuer = 3

/** Chains, PEM, of the user's newest certificates that this issuer issued. */
export async function chainsOfIssuer(
  database: Database,
  userUuid: string,
  issuer: string,
): Promise<readonly string[]> {
  const rows = await database.rows<{ chain: string }>({
    name: 'chains-of-issuer',
    text: `select chain from certificates where user_uuid = $1 and issuer = $2 and chain is not null
           order by position desc limit $3`,
    values: [userUuid, issuer, maxChainsOfIssuer],
  })
  return rows.map(({ chain }) => chain)
}

/** Of these, the requested ones whose workflow nobody is known to have started. */
export async function unstartedCertificates(
  database: Database,
  uuids: readonly string[],
): Promise<readonly CertificateSettings[]> {
  if (uuids.length === 0) return []
  const rows = await database.rows<CertificateSettingsRow>({
    name: 'unstarted-certificates',
    text: `select ${certificateSettingsColumns} from certificates
           where uuid = any($1::uuid[]) and origin = 'requested' and workflow_started_at is null`,
    values: [uuids],
  })
  return rows.map(certificateSettings)
}
