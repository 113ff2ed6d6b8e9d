import { RequestError, problem } from '../../contract/errors.ts'
import type { listEvents } from '../../contract/event/operations.ts'
import { defaultEventCount } from '../../contract/limits.ts'
import { beforeAllEvents, findEventPlace, listEvents as readEvents } from '../../db/event/read.ts'
import type { EventPlace } from '../../db/event/read.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentEvent } from './event-view.ts'
import { kindsOf } from './filter.ts'

/** The events of the account that pass the filters. */
export function eventsList(deps: ApiDeps): Handler<typeof listEvents> {
  return async ({ query }, call) => {
    const { kind, object, by, since, until, before, after, count = defaultEventCount } = query
    const rows = await readEvents(deps.database, call.identity.userUuid, {
      limit: count,
      ...(kind === undefined ? {} : { kinds: kindsOf(kind) }),
      ...(object === undefined ? {} : { object: object.toLowerCase() }),
      ...(by === undefined ? {} : { askedBy: by }),
      ...(since === undefined ? {} : { since: new Date(since) }),
      ...(until === undefined ? {} : { until: new Date(until) }),
      ...(before === undefined ? {} : { before: await place(deps, call, { name: 'before', id: before }) }),
      ...(after === undefined ? {} : { after: await place(deps, call, { name: 'after', id: after }) }),
    })
    return { entries: rows.map(presentEvent) }
  }
}

async function place(
  deps: ApiDeps,
  call: Call,
  { name, id }: { readonly name: string; readonly id: number },
): Promise<EventPlace> {
  if (id === 0) return beforeAllEvents
  const found = await findEventPlace(deps.database, call.identity.userUuid, id)
  if (found !== undefined) return found
  const reason = `no event with id ${id} is kept: read the events from their beginning, with 'after' 0`
  throw new RequestError([problem('invalidContent', { name, place: 'the query', reason })])
}
