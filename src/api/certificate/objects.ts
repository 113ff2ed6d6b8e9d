import type { FailedEntry } from '../../contract/envelope.ts'
import type { Page, RequestObject } from '../../contract/request/parsed-request.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import { findCertificates } from '../../db/certificate/certificates.ts'
import type { ListPage } from '../../db/identifiers.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../instance/objects.ts'
import { listPage } from '../list-page.ts'

/** The word for certificates in messages. */
export const certificateKind = 'certificate'

/**
 * Does `work` with each certificate that the request names, one after the other. The entries are in the
 * request's order.
 */
export async function forEachCertificate<E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<unknown>[],
  work: (row: CertificateRow) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  const named = objects.flatMap(({ target }) => target ?? [])
  const rows = await findCertificates(deps.database, call.identity.userUuid, named.map(identifierOf))
  const entries: (E | FailedEntry)[] = []
  for (const [index, target] of named.entries()) {
    const row = rows[index]
    entries.push(row === undefined ? missingEntry(certificateKind, target) : await work(row))
  }
  return entries
}

/** A page of certificates in the terms of the database. */
export async function certificatePage(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  page: Page,
): Promise<ListPage> {
  return listPage(deps, call, { page, list: 'certificates', kind: certificateKind })
}
