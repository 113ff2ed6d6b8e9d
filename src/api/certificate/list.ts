import type { listCertificates } from '../../contract/certificate/operations.ts'
import { listCertificateNames } from '../../db/certificate/certificates.ts'
import { lookedUpDomain } from '../../domain/service/domain-name.ts'
import type { Handler } from '../call.ts'
import { certificatePage } from './objects.ts'
import type { ApiDeps } from '../deps.ts'

/** The names of certificates that match one of the filters. */
export function certificatesList(deps: ApiDeps): Handler<typeof listCertificates> {
  return async ({ objects, page }, call) => {
    const filters = objects.map(({ parameters: { common_name: name } }) =>
      name === undefined ? {} : { commonName: lookedUpDomain(name) },
    )
    const filter = { ...(await certificatePage(deps, call, page)), filters }
    const rows = await listCertificateNames(deps.database, call.identity.userUuid, filter)
    return { entries: rows.map(({ uuid, name }) => ({ uuid, name })) }
  }
}
