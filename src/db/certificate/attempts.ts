import type { Database } from '../database.ts'
import { plainJson } from '../plain-text-client.ts'

/** Of one certificate; older ones tell its owner nothing that these do not. */
export const maxKeptAttempts = 20

/** What was seen in an attempt, as JSON; it is merged into what was noted of it before. */
export type AttemptReport = Readonly<Record<string, unknown>>

export interface CertificateAttemptRow {
  /** Over the whole life of the certificate, from 1. */
  readonly number: number
  readonly startedAt: Date
  /** Null while it lasts. */
  readonly endedAt: Date | null
  readonly report: AttemptReport
}

/**
 * Begins an attempt and answers its number; one that was begun and has not ended is gone on with, so that a
 * repeat after a crash is no attempt more. Undefined where the certificate is gone.
 */
export async function addAttempt(
  database: Database,
  uuid: string,
  report: AttemptReport = {},
): Promise<number | undefined> {
  return database.em().transactional(async (em) => {
    const [owner] = await em.execute<object[]>(
      'select 1 from certificates where uuid = ? for no key update',
      [uuid],
    )
    if (owner === undefined) return undefined
    const [open] = await em.execute<{ number: number }[]>(
      `update certificate_attempts set report = report || ?::jsonb
       where certificate_uuid = ? and ended_at is null returning number`,
      [plainJson(report), uuid],
    )
    if (open !== undefined) return open.number
    const [added] = await em.execute<{ number: number }[]>(
      `insert into certificate_attempts (certificate_uuid, number, report)
       select ?::uuid, 1 + coalesce(max(number), 0), ?::jsonb from certificate_attempts where certificate_uuid = ?
       returning number`,
      [uuid, plainJson(report), uuid],
    )
    const { number } = added!
    await em.execute(
      'delete from certificate_attempts where certificate_uuid = ? and number <= ?',
      [uuid, number - maxKeptAttempts],
      'run',
    )
    return number
  })
}

/** Notes what was seen in an attempt that goes on. Nothing happens where the certificate is gone. */
export async function noteAttempt(
  database: Database,
  attempt: { readonly uuid: string; readonly number: number },
  report: AttemptReport,
): Promise<void> {
  await database.rows({
    name: 'note-certificate-attempt',
    text: `update certificate_attempts set report = report || $3::jsonb where certificate_uuid = $1 and number = $2`,
    values: [attempt.uuid, attempt.number, plainJson(report)],
  })
}

/**
 * Ends an attempt with what was seen last. It stays ended when it was; nothing happens where the certificate
 * is gone.
 */
export async function endAttempt(
  database: Database,
  attempt: { readonly uuid: string; readonly number: number },
  report: AttemptReport = {},
): Promise<void> {
  await database.rows({
    name: 'end-certificate-attempt',
    text: `update certificate_attempts set report = report || $3::jsonb, ended_at = coalesce(ended_at, now())
           where certificate_uuid = $1 and number = $2`,
    values: [attempt.uuid, attempt.number, plainJson(report)],
  })
}

/** The last attempts, the newest first. */
export async function lastAttempts(
  database: Database,
  uuid: string,
): Promise<readonly CertificateAttemptRow[]> {
  return database.rows<CertificateAttemptRow>({
    name: 'last-certificate-attempts',
    text: `select number, started_at as "startedAt", ended_at as "endedAt", report from certificate_attempts
           where certificate_uuid = $1 order by number desc limit $2`,
    values: [uuid, maxKeptAttempts],
  })
}
