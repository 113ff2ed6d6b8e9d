import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { requestError } from '../../contract/errors.ts'
import type { execInstances } from '../../contract/instance/operations.ts'
import { findInstances } from '../../db/instance/instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'
import type { ExecStart } from '../../domain/instance/exec-protocol.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../named-objects.ts'
import type { ExecPlaces } from './exec-places.ts'
import { ExecRelay } from './exec-relay.ts'
import { forEachInstance } from './objects.ts'

/** What one operation lets users do in an instance. */
export interface SessionKind {
  /** The word of the operation in the path. */
  readonly what: string
  /** The first messages that are taken. */
  readonly starts: readonly ExecStart['type'][]
  readonly places: ExecPlaces
  /** Records what was asked for. */
  readonly tell: (call: Call, row: InstanceRow, start: ExecStart) => Promise<void>
}

/** Handles an operation that opens a WebSocket, which is relayed to the instance's host. */
export function sessionHandler(deps: ApiDeps, kind: SessionKind): Handler<typeof execInstances> {
  const { what, starts, places } = kind
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxExecMessageBytes,
    perMessageDeflate: false,
  })
  return async ({ objects }, call) => {
    if (!call.asksForWebSocket) {
      const refuse = async (row: InstanceRow) =>
        await Promise.resolve(failedInstance(row, 'notUpgraded', { what }))
      return { entries: await forEachInstance(deps, call, objects, refuse) }
    }
    const [object] = objects
    if (object?.target === undefined || objects.length > 1)
      throw requestError('oneInstance', { what, count: objects.length })
    const [row] = await findInstances(deps.database, call.identity, [identifierOf(object.target)])
    if (row === undefined) return { entries: [missingEntry('instance', object.target)] }
    return {
      async stream(response) {
        const leave = places.take(call.identity.userUuid)
        try {
          const client = await upgrade(server, response)
          const told = async (start: ExecStart) => await kind.tell(call, row, start)
          await new ExecRelay(client, { deps, call, row, starts, told }).run()
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
