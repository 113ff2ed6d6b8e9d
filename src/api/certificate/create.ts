import { setImmediate } from 'node:timers/promises'
import { createCertificates } from '../../contract/certificate/operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError } from '../../contract/errors.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { chainsOfIssuer } from '../../db/certificate/certificates.ts'
import { uploadCertificate } from '../../db/certificate/upload.ts'
import type { NewCertificate } from '../../db/certificate/upload.ts'
import type { Read } from '../body-identifier.ts'
import type { Call, Handler } from '../call.ts'
import { readCertificate } from './upload.ts'
import type { CertificateBody } from './upload.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

type Entry = OperationEntry<typeof createCertificates> | FailedEntry

/** Uploads the certificates of an array one after the other, unless something is wrong with any of them. */
export function certificatesCreate(deps: ApiDeps): Handler<typeof createCertificates> {
  return async ({ objects }, call) => {
    const read: Read<NewCertificate>[] = []
    for (const { parameters } of objects) {
      read.push(await readOne(deps, call, parameters))
      // Checking signatures takes a while. Other requests are served between two certificates.
      await setImmediate()
    }
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const entries: Entry[] = []
    for (const one of read)
      if (one.ok) entries.push(await createOne(deps, { ...one.value, asker: call.asker }))
    return { entries }
  }
}

function readOne(deps: ApiDeps, call: Call, body: CertificateBody): Promise<Read<NewCertificate>> {
  const { userUuid } = call.identity
  return readCertificate(body, {
    place: createCertificates.place,
    userUuid,
    nowMs: deps.nowMs(),
    chainsOf: (issuer) => chainsOfIssuer(deps.database, userUuid, issuer),
  })
}

async function createOne(deps: ApiDeps, wanted: NewCertificate): Promise<Entry> {
  const outcome = await uploadCertificate(deps, wanted)
  if (!outcome.ok) return unmadeEntry(writeRefusalProblem(outcome.refusal), wanted.name)
  const { uuid, name } = outcome.certificate
  return { status: 'success', uuid, name }
}
