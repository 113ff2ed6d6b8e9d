import type { deleteCertificates } from '../../contract/certificate/operations.ts'
import { deleteCertificate } from '../../db/certificate/delete.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import type { Handler } from '../call.ts'
import { forEachCertificate } from './objects.ts'
import { tellCertificateDeleted } from './workflows.ts'
import type { ApiDeps } from '../deps.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/** Deletes certificates that no domain uses, with their keys. */
export function certificatesDelete(deps: ApiDeps): Handler<typeof deleteCertificates> {
  return async ({ objects }, call) => {
    const entries = await forEachCertificate(deps, call, objects, async ({ uuid, name, origin }) => {
      const outcome = await deleteCertificate(deps.database, call.identity.userUuid, uuid, call.asker)
      if (!outcome.ok) {
        const { message, code } = writeRefusalProblem(outcome.refusal)
        return { status: 'error' as const, uuid, name, message, error: code }
      }
      if (origin === CertificateOrigin.Requested) await tellCertificateDeleted(deps, call, uuid)
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
