import type { getCertificates } from '../../contract/certificate/operations.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import { listCertificates } from '../../db/certificate/certificates.ts'
import type { Handler } from '../call.ts'
import { certificatePage, forEachCertificate } from './objects.ts'
import type { ApiDeps } from '../deps.ts'
import { presentCertificate } from './view.ts'

/** The status of the named certificates, or of all; if of all, the entries have no `status` of their own. */
export function certificatesStatus(deps: ApiDeps): Handler<typeof getCertificates> {
  return async ({ objects, query, page }, call) => {
    const present = query.details === false ? presentIdentity : presentCertificate
    if (objects.length === 0) {
      const filter = await certificatePage(deps, call, page)
      const rows = await listCertificates(deps.database, call.identity.userUuid, filter)
      return { entries: rows.map(present) }
    }
    const entries = await forEachCertificate(deps, call, objects, async (row) => ({
      status: 'success' as const,
      ...present(row),
    }))
    return { entries }
  }
}

function presentIdentity({ uuid, name }: CertificateRow) {
  return { uuid, name }
}
