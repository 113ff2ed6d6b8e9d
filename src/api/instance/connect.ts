import { connectionNewsMs } from '../../contract/limits.ts'
import type { connectInstances } from '../../contract/instance/operations.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { RecentlyTold } from './connect-news.ts'
import { connectionPlaces } from './exec-places.ts'
import { sessionHandler } from './exec-session.ts'

/** Connects to a port in one instance. */
export function instancesConnect(deps: ApiDeps): Handler<typeof connectInstances> {
  const recent = new RecentlyTold(connectionNewsMs)
  return sessionHandler(deps, {
    what: 'connect',
    starts: ['connect'],
    places: connectionPlaces(),
    tell: async ({ asker }, row, start) => {
      if (start.type !== 'connect') return
      const { port } = start
      if (!recent.isNews(JSON.stringify([row.uuid, port, asker.by, asker.name]), Date.now())) return
      const why = `a connection to port ${String(port)} was asked for`
      await writeAsked(deps.database, row, {
        kind: UserEventKind.InstanceConnected,
        why,
        asker,
        facts: { port },
      })
    },
  })
}
