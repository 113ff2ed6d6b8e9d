import type { ExpressionBuilder } from 'kysely'
import type { Database } from '../database.ts'
import { json } from '../postgres-client.ts'
import type { Db, JsonText, Row, Tables } from '../schema/tables.ts'
import { now } from '../sql/time.ts'

/** How many attempts of one certificate are kept. Older ones would tell its owner nothing more. */
export const maxKeptAttempts = 20

/** What was seen in an attempt, as JSON. It is merged into the attempt's earlier report. */
export type AttemptReport = Readonly<Record<string, unknown>>

const attemptColumns = ['number', 'startedAt', 'endedAt', 'report'] as const

/** An attempt as its owner gets it. The entity says what its columns mean. */
export type CertificateAttemptRow = Readonly<
  Pick<Row<'certificateAttempts'>, (typeof attemptColumns)[number]>
>

/**
 * Begins an attempt and returns its number. An attempt that has not ended is continued instead, so that a
 * repeat after a crash does not count as another attempt. Undefined if the certificate is gone.
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

/**
 * Inserts the next attempt. The caller's transaction has locked the certificate's row, so that no two
 * attempts get the same number.
 */
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

/** Notes what was seen in an attempt that goes on. Does nothing if the certificate is gone. */
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
 * Ends an attempt with what was seen last. An attempt that has ended already keeps its end. Does nothing if
 * the certificate is gone.
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

/** The earlier report with `report` merged into it. */
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
