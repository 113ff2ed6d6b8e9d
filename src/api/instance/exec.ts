import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { requestError } from '../../contract/errors.ts'
import type { execInstances } from '../../contract/instance/operations.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import { findInstances } from '../../db/instance/instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'
import { visibleText } from '../../domain/plain-text.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../named-objects.ts'
import { ExecPlaces } from './exec-places.ts'
import { ExecRelay } from './exec-relay.ts'
import { forEachInstance } from './objects.ts'

/** The longest name of a program in an event. */
const maxProgramLength = 100

/** Runs a program in one instance, over a WebSocket that is relayed to the instance's host. */
export function instancesExec(deps: ApiDeps): Handler<typeof execInstances> {
  const places = new ExecPlaces()
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxExecMessageBytes,
    perMessageDeflate: false,
  })
  return async ({ objects }, call) => {
    if (!call.asksForWebSocket) {
      const refuse = async (row: InstanceRow) => await Promise.resolve(failedInstance(row, 'notUpgraded'))
      return { entries: await forEachInstance(deps, call, objects, refuse) }
    }
    const [object] = objects
    if (object?.target === undefined || objects.length > 1)
      throw requestError('oneProgram', { count: objects.length })
    const [row] = await findInstances(deps.database, call.identity, [identifierOf(object.target)])
    if (row === undefined) return { entries: [missingEntry('instance', object.target)] }
    return {
      async stream(response) {
        const leave = places.take(call.identity.userUuid)
        try {
          const client = await upgrade(server, response)
          await new ExecRelay(client, {
            deps,
            call,
            row,
            told: (program) => tell(deps, call, { row, program }),
          }).run()
        } finally {
          leave()
        }
      },
    }
  }
}

/** Takes the socket from the response. Throws if the request for the WebSocket was not sound. */
async function upgrade(server: WebSocketServer, response: ServerResponse): Promise<WebSocket> {
  const { req: request, socket } = response
  if (socket === null) throw new Error('the connection is gone')
  const gone = once(socket, 'close').then(() => {
    throw new Error('the client went away, or its request for a WebSocket was not sound')
  })
  response.detachSocket(socket)
  const accepted = new Promise<WebSocket>((resolve) => {
    server.handleUpgrade(request, socket, Buffer.alloc(0), resolve)
  })
  return await Promise.race([accepted, gone])
}

/** Writes who runs what. Arguments may be secrets, so only the program is told. */
async function tell(
  deps: ApiDeps,
  { asker }: Call,
  { row, program: name }: { readonly row: InstanceRow; readonly program: string },
): Promise<void> {
  const program = visibleText(name.slice(0, maxProgramLength))
  const why = `the program '${program}' was asked for`
  await writeAsked(deps.database, row, { kind: UserEventKind.InstanceExec, why, asker, facts: { program } })
}
