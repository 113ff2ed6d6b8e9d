import { RequestError, problem, requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import { updateSchedules } from '../../contract/schedule/operations.ts'
import { readLimits } from '../../db/account/quotas.ts'
import { changeSchedule } from '../../db/schedule/change.ts'
import type { ScheduleChange } from '../../db/schedule/change.ts'
import type { ScheduleRow } from '../../db/schedule/row.ts'
import type { QuotaLimits } from '../../domain/account/quotas.ts'
import { defaultCatchUpS, defaultOverlap, defaultTimeZone } from '../../domain/schedule/overlap.ts'
import { SchedulePart } from '../../domain/schedule/part.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { actionProblems, readAction } from './action.ts'
import { failedSchedule, forEachSchedule, scheduleKind } from './objects.ts'
import { tellChange } from './telling.ts'
import { timeProblems } from './times.ts'

type Body = OperationBody<typeof updateSchedules>
type Entry = OperationEntry<typeof updateSchedules> | FailedEntry

/** Changes schedules, in the order of the request. */
export function schedulesUpdate(deps: ApiDeps): Handler<typeof updateSchedules> {
  return async ({ objects }, call) => {
    const limits = await readLimits(deps.database, call.identity.userUuid)
    if (limits === undefined) throw requestError('unauthenticated')
    const problems = objects.flatMap(({ parameters }) => changeProblems(parameters, limits))
    if (problems.length > 0) throw new RequestError(problems)
    const entries = await forEachSchedule(deps, call, objects, async (row, body): Promise<Entry> => {
      const entry = await changeOne(deps, call, { row, body })
      return body.id === undefined ? entry : { ...entry, id: body.id }
    })
    return { entries }
  }
}

function changeProblems(body: Body, limits: QuotaLimits): readonly Problem[] {
  const twice = (body.clear ?? []).filter((name) => body[name] !== undefined)
  const { place } = updateSchedules
  return [
    ...timeProblems(body),
    ...(body.action === undefined ? [] : actionProblems(body.action, limits)),
    ...twice.map((other) => problem('notBoth', { name: 'clear', other, place })),
  ]
}

async function changeOne(
  deps: ApiDeps,
  call: Call,
  { row, body }: { readonly row: ScheduleRow; readonly body: Body },
): Promise<Entry> {
  const action = body.action === undefined ? undefined : await readAction(deps, call, body.action)
  if (action?.ok === false) return failedSchedule(row, action.wrong)
  const { uuid, name, userUuid } = row
  const change = { ...changeOf(body), ...(action && { action: action.read }) }
  const done = await changeSchedule(deps, { uuid, userUuid, asker: call.asker }, change)
  // The schedule was deleted since it was found.
  if (done === undefined) return missingEntry(scheduleKind, { by: 'uuid', value: uuid })
  // A change of the action alone does not concern Temporal.
  if (done.schedule.version > done.schedule.toldVersion) await tellChange(deps, call, done.schedule)
  return { status: 'success', uuid, name, changed: [...done.changed] }
}

function changeOf(body: Body): Omit<ScheduleChange, 'action'> {
  const cleared = new Set<SchedulePart>(body.clear ?? [])
  const values = {
    cron: body.cron?.trim(),
    timeZone: cleared.has(SchedulePart.TimeZone) ? defaultTimeZone : body.time_zone,
    paused: cleared.has(SchedulePart.Paused) ? false : body.paused,
    catchUpS: cleared.has(SchedulePart.CatchUp) ? defaultCatchUpS : body.catch_up_s,
    overlap: cleared.has(SchedulePart.Overlap) ? defaultOverlap : body.overlap,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
