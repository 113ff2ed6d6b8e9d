import type { execInstances } from '../../contract/instance/operations.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { visibleText } from '../../domain/plain-text.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import type { ExecPlaces } from './exec-places.ts'
import { sessionHandler } from './exec-session.ts'

/** The longest name of a program, and the longest path, in an event. */
const maxProgramLength = 100
const maxPathLength = 300

/** Runs a program in one instance. */
export function instancesExec(deps: ApiDeps, places: ExecPlaces): Handler<typeof execInstances> {
  return sessionHandler(deps, {
    what: 'exec',
    starts: ['run'],
    places,
    // Arguments may be secrets, so only the program is told.
    tell: async ({ asker }, row, start) => {
      const [name = ''] = start.type === 'run' ? start.argv : []
      const program = visibleText(name.slice(0, maxProgramLength))
      const why = `the program '${program}' was asked for`
      const news = { kind: UserEventKind.InstanceExec, why, asker, facts: { program } }
      await writeAsked(deps.database, row, news)
    },
  })
}

/** Copies files from one instance or to it. */
export function instancesArchive(deps: ApiDeps, places: ExecPlaces): Handler<typeof execInstances> {
  return sessionHandler(deps, {
    what: 'archive',
    starts: ['pack', 'unpack'],
    places,
    tell: async ({ asker }, row, start) => {
      const path = visibleText('path' in start ? start.path.slice(0, maxPathLength) : '')
      const direction = start.type === 'pack' ? 'from' : 'to'
      const why = `a copy ${direction} '${path}' was asked for`
      const news = { kind: UserEventKind.InstanceCopied, why, asker, facts: { direction, path } }
      await writeAsked(deps.database, row, news)
    },
  })
}
