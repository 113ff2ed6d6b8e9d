import { AskerKind } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { explainDecision } from '../../domain/autoscale/explanation.ts'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import type { NewEvent } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import type { Db, Row } from '../schema/tables.ts'

/** How many decisions of each service are kept. Older ones are deleted. */
export const keptDecisions = 50

export type AutoscaleDecisionRow = Readonly<Pick<Row<'autoscaleDecisions'>, 'position' | 'at' | 'report'>>

/** The last decisions of a service, the newest first. */
export async function lastDecisions(
  { db }: Database,
  serviceUuid: string,
  limit: number = keptDecisions,
): Promise<readonly AutoscaleDecisionRow[]> {
  return db
    .selectFrom('autoscaleDecisions')
    .select(['position', 'at', 'report'])
    .where('serviceUuid', '=', serviceUuid)
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
}

/**
 * Keeps a decision, in the transaction that carries it out, and deletes those that are too old. A refusal
 * that only repeats the last decision replaces it, so that hours of vain attempts do not push out the
 * decisions that changed something. Other decisions are events of the service's owner, too. Returns the
 * position, by which `rewriteDecision` finds the decision.
 */
export async function keepDecision(
  db: Db,
  service: { readonly uuid: string; readonly name: string; readonly userUuid: string },
  report: DecisionReport,
  target: number = report.after,
): Promise<number> {
  const serviceUuid = service.uuid
  const { added, givenBack, refusal } = report
  const changesNothing = added.length === 0 && givenBack.length === 0
  const isRepeated =
    changesNothing && refusal !== undefined && (await deleteRepeated(db, serviceUuid, refusal))
  if (!isRepeated) await writeEvents(db, [decisionEvent(service, { ...report, added: [], after: target })])
  const { position } = await db
    .insertInto('autoscaleDecisions')
    .values({ serviceUuid, report: json(report) })
    .returning('position')
    .executeTakeFirstOrThrow()
  await deleteOld(db, serviceUuid)
  return position
}

/**
 * Deletes the last decision if it changed nothing and was refused with the same words. Returns whether it
 * was.
 */
async function deleteRepeated(db: Db, serviceUuid: string, refusal: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('autoscaleDecisions')
    .where('position', '=', (eb) =>
      eb
        .selectFrom('autoscaleDecisions')
        .select((eb) => eb.fn.max('position').as('last'))
        .where('serviceUuid', '=', serviceUuid),
    )
    .where((eb) => {
      const textOf = (key: 'refusal' | 'added' | 'givenBack') =>
        eb.ref('report', '->>').key(key).$castTo<string>()
      return eb.and([
        eb(textOf('refusal'), '=', refusal),
        eb(textOf('added'), '=', '[]'),
        eb(textOf('givenBack'), '=', '[]'),
      ])
    })
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/**
 * The event of a decision, when its first step is carried out. What is added has events of its own, as it
 * comes.
 */
function decisionEvent(service: Parameters<typeof keepDecision>[1], report: DecisionReport): NewEvent {
  const { before, after } = report
  return {
    ...eventObject(service),
    kind: UserEventKind.AutoscaleDecision,
    why: explainDecision(report),
    asker: { by: AskerKind.Autoscale },
    facts: { size_before: before, size_after: after },
  }
}

async function deleteOld(db: Db, serviceUuid: string): Promise<void> {
  await db
    .deleteFrom('autoscaleDecisions')
    .where('serviceUuid', '=', serviceUuid)
    .where('position', '<=', (eb) =>
      eb
        .selectFrom('autoscaleDecisions')
        .select('position')
        .where('serviceUuid', '=', serviceUuid)
        .orderBy('position', 'desc')
        .offset(keptDecisions)
        .limit(1),
    )
    .execute()
}

/** Replaces the report of a decision that is still being carried out. */
export async function rewriteDecision(db: Db, position: number, report: DecisionReport): Promise<void> {
  await db
    .updateTable('autoscaleDecisions')
    .set({ report: json(report) })
    .where('position', '=', position)
    .execute()
}
