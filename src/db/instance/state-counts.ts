import { InstanceState } from '../../domain/instance/state.ts'
import type { Database } from '../database.ts'
import { anyOf } from '../sql/lists.ts'
import { ago } from '../sql/time.ts'

/** How many instances are in a state. */
export interface StateCount {
  readonly state: InstanceState
  readonly count: number
}

/** The states of the instances of these services, as their rows have them. */
export async function countServiceStates(
  { db }: Database,
  serviceUuids: readonly string[],
): Promise<readonly (StateCount & { readonly serviceUuid: string })[]> {
  if (serviceUuids.length === 0) return []
  const rows = await db
    .selectFrom('instances')
    .select(['serviceUuid', 'state'])
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('serviceUuid', '=', anyOf(serviceUuids))
    .where('deletedAt', 'is', null)
    .groupBy(['serviceUuid', 'state'])
    .execute()
  return rows.flatMap(({ serviceUuid, ...rest }) => (serviceUuid === null ? [] : [{ serviceUuid, ...rest }]))
}

/** The states of all instances that are not deleted. */
export async function countStates({ db }: Database): Promise<readonly StateCount[]> {
  return db
    .selectFrom('instances')
    .select('state')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('deletedAt', 'is', null)
    .groupBy('state')
    .execute()
}

/** What takes time and should end. Draining is left out: it may last as long as its user wished. */
export const UnfinishedWork = { Starting: 'starting', Stopping: 'stopping', Deleting: 'deleting' } as const
export type UnfinishedWork = (typeof UnfinishedWork)[keyof typeof UnfinishedWork]

/** How many instances have been starting, stopping or being deleted for longer than `ms`. */
export async function countUnfinished(
  { db }: Database,
  ms: number,
): Promise<Readonly<Record<UnfinishedWork, number>>> {
  const rows = await db
    .selectFrom('instances')
    .select((eb) => [
      eb
        .case()
        .when('deletedAt', 'is not', null)
        .then<UnfinishedWork>(UnfinishedWork.Deleting)
        .else(eb.ref('state').$castTo<UnfinishedWork>())
        .end()
        .as('work'),
      eb.fn.countAll<number>().as('count'),
    ])
    .where((eb) =>
      eb.or([
        eb('deletedAt', '<', ago(ms)),
        eb.and([
          eb('deletedAt', 'is', null),
          eb('state', 'in', [InstanceState.Starting, InstanceState.Stopping]),
          eb('stateSince', '<', ago(ms)),
        ]),
      ]),
    )
    .groupBy('work')
    .execute()
  const counts: Record<UnfinishedWork, number> = { starting: 0, stopping: 0, deleting: 0 }
  for (const { work, count } of rows) counts[work] += count
  return counts
}
