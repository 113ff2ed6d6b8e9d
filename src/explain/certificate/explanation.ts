import type { CertificateAttemptRow } from '../../db/certificate/attempts.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import { certificateSettings } from '../../db/certificate/settings.ts'
import { explainAttempt } from '../../domain/certificate/attempt-explanation.ts'
import type { AttemptExplanation } from '../../domain/certificate/attempt-explanation.ts'
import type { AttemptReport } from '../../domain/certificate/attempt-report.ts'
import { explainCertificate, explainUploaded } from '../../domain/certificate/explanation.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import { newCertificateLife } from '../../domain/certificate/lifecycle.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import { point } from '../explanation-text.ts'

export interface CertificateExplanation extends Explanation {
  /** The attempts, the newest first. */
  readonly attempts: readonly ExplainedAttempt[]
}

interface ExplainedAttempt extends AttemptExplanation {
  readonly number: number
  readonly startedAt: string
  readonly endedAt?: string
  readonly authority?: string
  readonly outcome?: string
  readonly failure?: string
  readonly problem?: AttemptReport['problem']
}

export function explanationOf(
  certificate: CertificateRow,
  attempts: readonly CertificateAttemptRow[],
  nowMs: number,
): CertificateExplanation {
  const { name, commonName, origin } = certificate
  const [last] = attempts
  const { recorded = newCertificateLife } = certificateSettings(certificate)
  const uploaded = { name, commonName, notAfterMs: certificate.notAfter?.getTime() ?? nowMs }
  const explanation =
    origin === CertificateOrigin.Uploaded
      ? explainUploaded(uploaded, nowMs)
      : explainCertificate({
          ...recorded,
          name,
          commonName,
          putOff: recorded.nextAtMs !== undefined && last?.endedAt === null,
        })
  return { ...explanation, attempts: attempts.map(explainOne) }
}

/**
 * The report may have been written by a process of another release. So it may have more or fewer fields than
 * this release knows.
 */
function explainOne({ number, startedAt, endedAt, report }: CertificateAttemptRow): ExplainedAttempt {
  const known = report as AttemptReport
  const { authority, outcome, failure, problem } = known
  return {
    number,
    startedAt: startedAt.toISOString(),
    ...(endedAt !== null && { endedAt: endedAt.toISOString() }),
    ...(authority !== undefined && { authority }),
    ...(outcome !== undefined && { outcome }),
    ...(failure !== undefined && { failure }),
    ...(problem !== undefined && { problem }),
    ...explainAttempt(known),
  }
}

export function textOfExplanation({ now, next, failure, attempts }: CertificateExplanation): string {
  const lines = [now, `next: ${next}`]
  if (failure !== undefined) lines.push(`why: ${failure}`)
  const [last, ...earlier] = attempts
  if (last === undefined) return lines.join('\n')
  lines.push('', last.seen.length === 0 ? endOf(last) : `${headOf(last)}:`, ...last.seen.map(point))
  if (last.problem !== undefined) lines.push(point(`the authority's words: ${wordsOf(last.problem)}`))
  if (last.means.length > 0) lines.push('what it means:', ...last.means.map(point))
  if (last.toDo.length > 0) lines.push('what to do:', ...last.toDo.map(point))
  if (earlier.length > 0) lines.push('', 'before:')
  lines.push(...earlier.map((attempt) => point(endOf(attempt))))
  return lines.join('\n')
}

function endOf(attempt: ExplainedAttempt): string {
  const { endedAt, failure, outcome = endedAt === undefined ? 'under way' : 'not known' } = attempt
  return `${headOf(attempt)}: ${failure ?? outcome}`
}

function headOf({ number, startedAt, endedAt, authority }: ExplainedAttempt): string {
  const asked = authority === undefined ? '' : ` with ${authority}`
  return `attempt ${number}${asked}, ${startedAt} to ${endedAt ?? 'now'}`
}

function wordsOf({ type, detail, status }: NonNullable<AttemptReport['problem']>): string {
  return `${type}${status === undefined ? '' : ` (${status})`}: ${detail}`
}
