import type { EntityManager } from '@mikro-orm/postgresql'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import type { Database } from '../database.ts'
import { plainJson } from '../plain-text-client.ts'

/** Of each service; older ones are forgotten. */
export const keptDecisions = 50

export interface AutoscaleDecisionRow {
  readonly position: number
  readonly at: Date
  readonly report: DecisionReport
}

/** The last ones, the newest first. */
export async function lastDecisions(
  database: Database,
  serviceUuid: string,
  limit: number = keptDecisions,
): Promise<readonly AutoscaleDecisionRow[]> {
  return database.rows<AutoscaleDecisionRow>({
    name: 'last-autoscale-decisions',
    text: `select position, at, report from autoscale_decisions where service_uuid = $1
           order by position desc limit $2`,
    values: [serviceUuid, limit],
  })
}

/**
 * Writes down what was done, in the transaction that does it, and forgets what is too old. A refusal that
 * only repeats the last one takes its place: what was tried in vain for hours does not push out what was
 * done. Answers the position, under which it can be written anew while it goes on.
 */
export async function keepDecision(
  em: EntityManager,
  serviceUuid: string,
  report: DecisionReport,
): Promise<string> {
  if (isInVain(report)) {
    await em.execute(
      `delete from autoscale_decisions where position =
           (select max(position) from autoscale_decisions where service_uuid = ?)
         and report->>'refusal' = ? and report->'added' = '[]' and report->'givenBack' = '[]'`,
      [serviceUuid, report.refusal],
      'run',
    )
  }
  const [row] = await em.execute<{ position: string }[]>(
    'insert into autoscale_decisions (service_uuid, report) values (?, ?::jsonb) returning position',
    [serviceUuid, plainJson(report)],
  )
  await em.execute(
    `delete from autoscale_decisions where service_uuid = ? and position <=
       (select position from autoscale_decisions where service_uuid = ? order by position desc offset ? limit 1)`,
    [serviceUuid, serviceUuid, keptDecisions],
    'run',
  )
  return row!.position
}

/** What became of a decision that goes on. */
export async function rewriteDecision(
  em: EntityManager,
  position: string,
  report: DecisionReport,
): Promise<void> {
  await em.execute(
    'update autoscale_decisions set report = ?::jsonb where position = ?',
    [plainJson(report), position],
    'run',
  )
}

function isInVain({ added, givenBack, refusal }: DecisionReport): boolean {
  return refusal !== undefined && added.length === 0 && givenBack.length === 0
}
