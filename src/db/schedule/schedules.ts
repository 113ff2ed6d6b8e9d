import type { Database } from '../database.ts'
import { inOrderOf, splitIdentifiers } from '../identifiers.ts'
import type { Identifier, ListPage } from '../identifiers.ts'
import { anyOf } from '../sql/lists.ts'
import { scheduleColumns } from './row.ts'
import type { ScheduleRow } from './row.ts'

/**
 * The user's schedules, in the order of `identifiers`; undefined for each one that the user does not have.
 */
export async function findSchedules(
  { db }: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (ScheduleRow | undefined)[]> {
  const { uuids, names } = splitIdentifiers(identifiers)
  const rows = await db
    .selectFrom('schedules')
    .select(scheduleColumns)
    .where('userUuid', '=', userUuid)
    .where('deletedAt', 'is', null)
    .where((eb) => eb.or([eb('uuid', '=', anyOf(uuids)), eb('name', '=', anyOf(names))]))
    .execute()
  return inOrderOf(identifiers, rows)
}

/** The conditions on schedules in a list. An empty filter lets all pass. */
export interface ScheduleFilter {
  readonly paused?: boolean
}

/**
 * The user's schedules that pass any of the filters, in the order of their creation; all without a filter.
 */
export async function listSchedules(
  { db }: Database,
  userUuid: string,
  { filters = [], ...page }: ListPage & { readonly filters?: readonly ScheduleFilter[] } = {},
): Promise<readonly ScheduleRow[]> {
  const wanted = [false, true].filter(
    (paused) => filters.length === 0 || filters.some((filter) => (filter.paused ?? paused) === paused),
  )
  return db
    .selectFrom('schedules')
    .select(scheduleColumns)
    .where('userUuid', '=', userUuid)
    .where('deletedAt', 'is', null)
    .where('paused', '=', anyOf(wanted))
    .where('position', '>', page.afterPosition ?? 0)
    .orderBy('position')
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}
