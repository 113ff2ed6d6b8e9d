import { isUuid } from '../../domain/object-name.ts'
import { selectCertificates } from './row.ts'
import type { CertificateRow } from './row.ts'
import type { Database } from '../database.ts'
import type { Db } from '../schema/tables.ts'

/** A certificate as an administrator sees it. */
export interface OwnedCertificate extends CertificateRow {
  readonly userName: string
}

/**
 * How many certificates are found at most. A longer list would not help to tell certificates of one name
 * apart.
 */
const maxFound = 20

function ownedCertificates(db: Db, userName: string | undefined) {
  return db
    .selectFrom(selectCertificates(db).as('found'))
    .innerJoin('users', 'users.uuid', 'found.userUuid')
    .selectAll('found')
    .select('users.name as userName')
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
}

/** For administrators: all certificates, or those of one user, in the order of their creation. */
export async function overlookCertificates(
  { db }: Database,
  of: { readonly userName?: string } = {},
): Promise<readonly OwnedCertificate[]> {
  return ownedCertificates(db, of.userName).orderBy('found.position').execute()
}

/**
 * For administrators: the certificates, of every user or of `userName` alone, that have this text as their
 * UUID or name. If there are none, the certificates of the domain with this name. If there are none either,
 * the certificates with this common name.
 */
export async function searchCertificates(
  { db }: Database,
  wanted: { readonly uuidNameOrDomain: string; readonly userName?: string },
): Promise<readonly OwnedCertificate[]> {
  const { uuidNameOrDomain: text, userName } = wanted
  const domain = domainOf(text)
  const fitting = ownedCertificates(db, userName).select((eb) => {
    const isNamed = eb('found.name', '=', text)
    // PostgreSQL would fail the query if the text is no UUID.
    const isWanted = isUuid(text) ? eb.or([eb('found.uuid', '=', text), isNamed]) : isNamed
    const serving = eb.selectFrom('domains').select('certificateUuid').where('fqdn', '=', domain)
    return eb
      .case()
      .when(isWanted)
      .then(eb.lit(1))
      .when('found.uuid', 'in', serving)
      .then(eb.lit(2))
      .when('found.commonName', '=', domain)
      .then(eb.lit(3))
      .end()
      .as('fit')
  })
  const found = await db
    .selectFrom(fitting.as('fitting'))
    .selectAll()
    .where('fit', 'is not', null)
    .orderBy('fit')
    .orderBy('position')
    .limit(maxFound)
    .execute()
  return found.filter(({ fit }) => fit === found[0]?.fit)
}

function domainOf(text: string): string {
  return text.toLowerCase().replace(/\.$/, '')
}
