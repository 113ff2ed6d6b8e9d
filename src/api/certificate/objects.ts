import type { FailedEntry } from '../../contract/envelope.ts'
import type { Page, RequestObject } from '../../contract/request/parsed-request.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import { findCertificates } from '../../db/certificate/certificates.ts'
import type { ListPage } from '../../db/identifiers.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { listPage } from '../list-page.ts'
import { forEachNamed } from '../named-objects.ts'
import type { ObjectKind } from '../named-objects.ts'

/** The word for certificates in messages. */
export const certificateKind = 'certificate'

const certificates: ObjectKind<CertificateRow> = {
  kind: certificateKind,
  find: (database, { userUuid }, identifiers) => findCertificates(database, userUuid, identifiers),
}

/** Does `work` with each certificate that the request names, as `forEachNamed` does. */
export async function forEachCertificate<B, E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<B>[],
  work: (row: CertificateRow, parameters: B) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  return forEachNamed(certificates, { deps, call }, objects, work)
}

/** A page of certificates in the terms of the database. */
export async function certificatePage(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  page: Page,
): Promise<ListPage> {
  return listPage(deps, call, { page, list: 'certificates', kind: certificateKind })
}
