import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError, requestError } from '../../contract/errors.ts'
import { maxSchedules } from '../../contract/limits.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import type { createSchedules } from '../../contract/schedule/operations.ts'
import { readLimits } from '../../db/account/quotas.ts'
import { createSchedule } from '../../db/schedule/create.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { defaultCatchUpS, defaultOverlap, defaultTimeZone } from '../../domain/schedule/overlap.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { actionProblems, readAction } from './action.ts'
import { tellChange } from './telling.ts'
import { timeProblems } from './times.ts'

type Body = OperationBody<typeof createSchedules>
type Entry = OperationEntry<typeof createSchedules> | FailedEntry

/** Creates the schedules of an array one after the other. */
export function schedulesCreate(deps: ApiDeps): Handler<typeof createSchedules> {
  return async ({ objects }, call) => {
    const limits = await readLimits(deps.database, call.identity.userUuid)
    if (limits === undefined) throw requestError('unauthenticated')
    const bodies = objects.map(({ parameters }) => parameters)
    const problems = bodies.flatMap((body) => [...timeProblems(body), ...actionProblems(body.action, limits)])
    if (problems.length > 0) throw new RequestError(problems)
    const entries: Entry[] = []
    for (const body of bodies) entries.push(await createOne(deps, call, body))
    return { entries }
  }
}

async function createOne(deps: ApiDeps, call: Call, body: Body): Promise<Entry> {
  const name = body.name === undefined ? undefined : parseObjectName(body.name)
  const action = await readAction(deps, call, body.action)
  if (!action.ok) return unmadeEntry(action.wrong, name)
  const wanted = {
    userUuid: call.identity.userUuid,
    cron: body.cron.trim(),
    timeZone: body.time_zone ?? defaultTimeZone,
    paused: body.paused ?? false,
    catchUpS: body.catch_up_s ?? defaultCatchUpS,
    overlap: body.overlap ?? defaultOverlap,
    asker: call.asker,
    ...action.read,
    ...(name !== undefined && { name }),
  }
  const outcome = await createSchedule(deps, wanted, maxSchedules)
  if (!outcome.ok) return unmadeEntry(writeRefusalProblem(outcome.refusal), name)
  const { schedule } = outcome
  await tellChange(deps, call, schedule)
  return { status: 'success', uuid: schedule.uuid, name: schedule.name }
}
