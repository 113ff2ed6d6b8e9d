import { isUuid } from '../../domain/object-name.ts'
import { certificateColumns } from './row.ts'
import type { CertificateRow } from './row.ts'
import type { Database } from '../database.ts'

/** A certificate as an administrator sees it. */
export interface OwnedCertificate extends CertificateRow {
  readonly userName: string
}

/** More of one name are not told apart by listing them. */
const maxFound = 20

const owned = `select found.*, users.name as "userName" from (select ${certificateColumns} from certificates) as found
  join users on users.uuid = found."userUuid"`

/** For administrators: all certificates, or those of one user, in the order of their creation. */
export async function overlookCertificates(
  database: Database,
  of: { readonly userName?: string } = {},
): Promise<readonly OwnedCertificate[]> {
  return database.rows<OwnedCertificate>({
    name: 'overlook-certificates',
    text: `${owned} where $1::text is null or users.name = $1 order by position`,
    values: [of.userName ?? null],
  })
}

/**
 * For administrators: the certificate of that UUID, or what every user, or `userName` alone, has of that
 * name; where there is none, those that the domain is served with; else those for it.
 */
export async function searchCertificates(
  database: Database,
  wanted: { readonly uuidNameOrDomain: string; readonly userName?: string },
): Promise<readonly OwnedCertificate[]> {
  const { uuidNameOrDomain: text, userName } = wanted
  const found = await database.rows<OwnedCertificate & { readonly fit: number }>({
    name: 'search-certificates',
    text: `select * from (select owned.*, case when uuid = $1::uuid or name = $2 then 1
               when uuid in (select certificate_uuid from domains where fqdn = $3) then 2
               when "commonName" = $3 then 3 end as fit from (${owned}) as owned) as fitting
           where fit is not null and ($4::text is null or "userName" = $4) order by fit, position limit $5`,
    values: [isUuid(text) ? text : null, text, domainOf(text), userName ?? null, maxFound],
  })
  return found.filter(({ fit }) => fit === found[0]?.fit)
}

function domainOf(text: string): string {
  return text.toLowerCase().replace(/\.$/, '')
}
