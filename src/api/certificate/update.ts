import { setImmediate } from 'node:timers/promises'
import { updateCertificates } from '../../contract/certificate/operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError, problem } from '../../contract/errors.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { chainsOfIssuer, findCertificates } from '../../db/certificate/certificates.ts'
import { replaceContents } from '../../db/certificate/replace.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import type { NewCertificate } from '../../db/certificate/upload.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import type { Read } from '../body-identifier.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { certificateKind, forEachCertificate } from './objects.ts'
import { readCertificate } from './upload.ts'
import { presentCertificate } from './view.ts'

type Entry = OperationEntry<typeof updateCertificates> | FailedEntry
type Contents = Parameters<Handler<typeof updateCertificates>>[0]['objects'][number]['parameters']

interface Replacement {
  readonly row: CertificateRow
  readonly read: Read<NewCertificate>
}

/**
 * Replaces the contents of uploaded certificates, one after the other, unless something is wrong with the new
 * contents of any of them.
 */
export function certificatesUpdate(deps: ApiDeps): Handler<typeof updateCertificates> {
  return async ({ objects }, call) => {
    const found = await forEachCertificate(deps, call, objects, async (row, parameters) => {
      if (row.origin !== CertificateOrigin.Uploaded) return renewsItself(row)
      const read = await readContents(deps, call, { row, parameters })
      // Checking signatures takes a while. Other requests are served between two certificates.
      await setImmediate()
      return { row, read }
    })
    const problems = found.flatMap((one) => ('read' in one && !one.read.ok ? one.read.problems : []))
    if (problems.length > 0) throw new RequestError(problems)
    const entries: Entry[] = []
    for (const one of found) entries.push('read' in one ? await replace(deps, call, one) : one)
    return { entries }
  }
}

function renewsItself({ uuid, name }: CertificateRow): FailedEntry {
  const { message, code } = problem('certificateRenewsItself', { name })
  return { status: 'error', uuid, name, message, error: code }
}

/** The contents have to be for the domain that the certificate is for. */
function readContents(
  deps: ApiDeps,
  call: Call,
  { row, parameters }: { readonly row: CertificateRow; readonly parameters: Contents },
): Promise<Read<NewCertificate>> {
  const { userUuid } = call.identity
  return readCertificate(
    { ...parameters, cn: row.commonName },
    {
      place: updateCertificates.place,
      userUuid,
      nowMs: deps.nowMs(),
      chainsOf: (issuer) => chainsOfIssuer(deps.database, userUuid, issuer),
    },
  )
}

async function replace(deps: ApiDeps, call: Call, { row, read }: Replacement): Promise<Entry> {
  if (!read.ok) throw new RequestError(read.problems)
  const { uuid } = row
  const { userUuid, asker } = { ...call.identity, asker: call.asker }
  const target = { by: 'uuid' as const, value: uuid }
  const isThere = await replaceContents(deps, { ...read.value, uuid, userUuid, asker })
  const [changed] = isThere ? await findCertificates(deps.database, userUuid, [{ uuid }]) : []
  if (changed === undefined) return missingEntry(certificateKind, target)
  return { status: 'success', ...presentCertificate(changed) }
}
