import type { explainCertificates } from '../../contract/certificate/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { lastAttempts } from '../../db/certificate/attempts.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import { explanationOf, textOfExplanation } from '../../explain/certificate/explanation.ts'
import type { CertificateExplanation } from '../../explain/certificate/explanation.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { timestamp } from '../timestamp.ts'
import { forEachCertificate } from './objects.ts'

type Entry = OperationEntry<typeof explainCertificates>

/** How certificates stand, what was tried and seen, and what to do. */
export function certificatesExplain(deps: ApiDeps): Handler<typeof explainCertificates> {
  return async ({ objects }, call) => {
    const entries = await forEachCertificate(deps, call, objects, async (row) => {
      const attempts = await lastAttempts(deps.database, row.uuid)
      return present(row, explanationOf(row, attempts, deps.nowMs()))
    })
    return { entries }
  }
}

function present(
  { uuid, name, state, commonName, origin }: CertificateRow,
  explanation: CertificateExplanation,
): Entry {
  const { now, next, failure, attempts } = explanation
  return {
    status: 'success',
    uuid,
    name,
    state,
    common_name: commonName,
    origin,
    now,
    next,
    ...(failure === undefined ? {} : { failure }),
    text: textOfExplanation(explanation),
    attempts: attempts.map(presentAttempt),
  }
}

function presentAttempt(attempt: CertificateExplanation['attempts'][number]): Entry['attempts'][number] {
  const { number, startedAt, endedAt, authority, outcome, failure, problem, seen, means, toDo } = attempt
  return {
    number,
    started_at: timestamp(new Date(startedAt)),
    ...(endedAt === undefined ? {} : { ended_at: timestamp(new Date(endedAt)) }),
    ...(authority === undefined ? {} : { authority }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(failure === undefined ? {} : { failure }),
    ...(problem === undefined ? {} : { problem: presentProblem(problem) }),
    seen: [...seen],
    means: [...means],
    to_do: [...toDo],
  }
}

/** The report may be of another release, so only the known fields of the problem are shown. */
function presentProblem({
  type,
  detail,
  status,
}: NonNullable<CertificateExplanation['attempts'][number]['problem']>) {
  return { type, detail, ...(status === undefined ? {} : { status }) }
}
