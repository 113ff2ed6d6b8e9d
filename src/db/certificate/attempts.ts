import type { ExpressionBuilder } from 'kysely'
import type { Database } from '../database.ts'
import { json } from '../postgres-client.ts'
import type { Db, JsonText, Row, Tables } from '../schema/tables.ts'
import { now } from '../sql/time.ts'

/** Of one certificate; older ones tell its owner nothing that these do not. */
export const maxKeptAttempts = 20

/** What was seen in an attempt, as JSON; it is merged into what was noted of it before. */
export type AttemptReport = Readonly<Record<string, unknown>>

const attemptColumns = ['number', 'startedAt', 'endedAt', 'report'] as const

/** What is told of an attempt. The entity says what its columns mean. */
export type CertificateAttemptRow = Readonly<
  Pick<Row<'certificateAttempts'>, (typeof attemptColumns)[number]>
>

/**
 * Begins an attempt and answers its number; one that was begun and has not ended is gone on with, so that a
 * repeat after a crash is no attempt more. Undefined where the certificate is gone.
 */
export async function addAttempt(
  database: Database,
  uuid: string,
  report: AttemptReport = {},
): Promise<number | undefined> {
  return database.db.transaction().execute(async (db) => {
    const owner = await db
      .selectFrom('certificates')
      .select('uuid')
      .where('uuid', '=', uuid)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (owner === undefined) return undefined
    const open = await db
      .updateTable('certificateAttempts')
      .set((eb) => ({ report: merged(eb, report) }))
      .where('certificateUuid', '=', uuid)
      .where('endedAt', 'is', null)
      .returning('number')
      .executeTakeFirst()
    return open?.number ?? insertNext(db, uuid, report)
  })
}

/** In a transaction that has the certificate's row locked, so that no two get one number. */
async function insertNext(db: Db, uuid: string, report: AttemptReport): Promise<number> {
  const { number } = await db
    .insertInto('certificateAttempts')
    .values((eb) => ({
      certificateUuid: uuid,
      number: eb
        .selectFrom('certificateAttempts')
        .select((eb) => eb(eb.fn.coalesce(eb.fn.max('number'), eb.lit(0)), '+', eb.lit(1)).as('next'))
        .where('certificateUuid', '=', uuid),
      report: json(report),
    }))
    .returning('number')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('certificateAttempts')
    .where('certificateUuid', '=', uuid)
    .where('number', '<=', number - maxKeptAttempts)
    .execute()
  return number
}

/** Notes what was seen in an attempt that goes on. Nothing happens where the certificate is gone. */
export async function noteAttempt(
  { db }: Database,
  attempt: { readonly uuid: string; readonly number: number },
  report: AttemptReport,
): Promise<void> {
  await db
    .updateTable('certificateAttempts')
    .set((eb) => ({ report: merged(eb, report) }))
    .where('certificateUuid', '=', attempt.uuid)
    .where('number', '=', attempt.number)
    .execute()
}

/**
 * Ends an attempt with what was seen last. It stays ended when it was; nothing happens where the certificate
 * is gone.
 */
export async function endAttempt(
  { db }: Database,
  attempt: { readonly uuid: string; readonly number: number },
  report: AttemptReport = {},
): Promise<void> {
  await db
    .updateTable('certificateAttempts')
    .set((eb) => ({ report: merged(eb, report), endedAt: eb.fn.coalesce('endedAt', now) }))
    .where('certificateUuid', '=', attempt.uuid)
    .where('number', '=', attempt.number)
    .execute()
}

/** What was noted before, with `report` merged into it. */
function merged(eb: ExpressionBuilder<Tables, 'certificateAttempts'>, report: AttemptReport) {
  return eb('report', '||', eb.cast<AttemptReport>(eb.val(json(report)), 'jsonb')).$castTo<
    JsonText<AttemptReport>
  >()
}

/** The last attempts, the newest first. */
export async function lastAttempts(
  { db }: Database,
  uuid: string,
): Promise<readonly CertificateAttemptRow[]> {
  return db
    .selectFrom('certificateAttempts')
    .select(attemptColumns)
    .where('certificateUuid', '=', uuid)
    .orderBy('number', 'desc')
    .limit(maxKeptAttempts)
    .execute()
}
