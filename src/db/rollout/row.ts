import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'

/** Columns that readers do not get. */
const inner = ['workflowStartedAt'] as const satisfies readonly (keyof Row<'rollouts'>)[]

export const rolloutColumns = columnsOf('rollouts', inner)

/** One rollout as readers get it. The entity says what its columns mean. */
export type RolloutRow = Readonly<Omit<Row<'rollouts'>, (typeof inner)[number]>>

/** An instance of a rollout. */
export interface RolloutMember {
  readonly rolloutUuid: string
  readonly uuid: string
  readonly name: string
  readonly isKept: boolean
}

/** The instances that belong to rollouts: the new ones, or the old ones that are kept. */
export async function membersOfRollouts(
  db: Db,
  rolloutUuids: readonly string[],
): Promise<readonly RolloutMember[]> {
  const rows = await db
    .selectFrom('instances')
    .select(['rolloutUuid', 'uuid', 'name', 'serviceUuid'])
    .where('rolloutUuid', '=', anyOf(rolloutUuids))
    .where('deletedAt', 'is', null)
    .where('retiredAt', 'is', null)
    .orderBy('position')
    .execute()
  return rows.map(({ rolloutUuid, uuid, name, serviceUuid }) => ({
    rolloutUuid: rolloutUuid!,
    uuid,
    name,
    isKept: serviceUuid === null,
  }))
}
