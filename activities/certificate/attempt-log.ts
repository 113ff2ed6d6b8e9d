import type { IssueError } from '../../src/acme/issuer.ts'
import { endAttempt, lastAttempts, noteAttempt } from '../../src/db/certificate/attempts.ts'
import type { Database } from '../../src/db/database.ts'
import { AttemptOutcome } from '../../src/domain/certificate/attempt-report.ts'
import type { AttemptReport } from '../../src/domain/certificate/attempt-report.ts'
import type { CertificateLifeEvent, CertificateStep } from '../../src/domain/certificate/lifecycle.ts'

/**
 * Adds to the report of the attempt that is under way. If there is none, the attempt ended before a crash,
 * and its report stays as it is.
 */
export async function noteOpenAttempt(
  database: Database,
  uuid: string,
  report: AttemptReport,
): Promise<void> {
  const number = await openAttempt(database, uuid)
  if (number !== undefined) await noteAttempt(database, { uuid, number }, { ...report })
}

export async function endOpenAttempt(database: Database, uuid: string, report: AttemptReport): Promise<void> {
  const number = await openAttempt(database, uuid)
  if (number !== undefined) await endAttempt(database, { uuid, number }, { ...report })
}

async function openAttempt(database: Database, uuid: string): Promise<number | undefined> {
  const attempts = await lastAttempts(database, uuid)
  return attempts.find(({ endedAt }) => endedAt === null)?.number
}

const outcomeOf = {
  failed: AttemptOutcome.Failed,
  later: AttemptOutcome.Later,
  refused: AttemptOutcome.Refused,
} satisfies Record<IssueError['kind'], AttemptOutcome>

/** Writes down for the owner why a step failed, and returns the event for the certificate's life. */
export async function reportFailure(
  database: Database,
  {
    uuid,
    step,
    error,
  }: { readonly uuid: string; readonly step: CertificateStep; readonly error: IssueError },
): Promise<CertificateLifeEvent> {
  const { kind: verdict, message: reason, problem, retryAtMs } = error
  const report: AttemptReport = {
    outcome: error.isPaced ? AttemptOutcome.Paced : outcomeOf[verdict],
    failure: reason,
    ...(problem !== undefined && { problem }),
    ...(retryAtMs !== undefined && { retryAtMs }),
  }
  await (verdict === 'later' ? noteOpenAttempt : endOpenAttempt)(database, uuid, report)
  return { kind: 'step-failed', step, verdict, reason, ...(retryAtMs !== undefined && { retryAtMs }) }
}
