import type { FailedEntry } from '../../contract/envelope.ts'
import type { Problem } from '../../contract/errors.ts'
import type { Page, RequestObject } from '../../contract/request/parsed-request.ts'
import type { ListPage } from '../../db/identifiers.ts'
import type { ScheduleRow } from '../../db/schedule/row.ts'
import { findSchedules } from '../../db/schedule/schedules.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { listPage } from '../list-page.ts'
import { forEachNamed } from '../named-objects.ts'
import type { ObjectKind } from '../named-objects.ts'

/** The word for schedules in messages. */
export const scheduleKind = 'schedule'

const schedules: ObjectKind<ScheduleRow> = {
  kind: scheduleKind,
  find: (database, { userUuid }, identifiers) => findSchedules(database, userUuid, identifiers),
}

/** Does `work` with each schedule that the request names, as `forEachNamed` does. */
export async function forEachSchedule<B, E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<B>[],
  work: (row: ScheduleRow, parameters: B, index: number) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  return forEachNamed(schedules, { deps, call }, objects, work)
}

/** The entry of a schedule for which the operation failed. */
export function failedSchedule(
  { uuid, name }: Pick<ScheduleRow, 'uuid' | 'name'>,
  wrong: Problem,
): FailedEntry {
  return { status: 'error', uuid, name, message: wrong.message, error: wrong.code }
}

/** The part of the list of schedules that a request asks for, as database queries take it. */
export async function schedulePage(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  page: Page,
): Promise<ListPage> {
  return listPage(deps, call, { page, list: 'schedules', kind: scheduleKind })
}
