import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { PublicProtocol } from '../../domain/host/gateway-role.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { createApiServer } from '../server.ts'
import { notePublic } from './admitted-hosts.ts'
import type { JoinedHosts } from './joined-hosts.ts'

export interface PublicEntranceOptions {
  readonly hosts: JoinedHosts
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  readonly pushesAt?: { readonly host: string; readonly port: number }
}

/** What gateways that joined pass on of the public. */
export interface PublicEntrance {
  /** The server of what is for the API. It does not listen: `take` gives it its connections. */
  readonly server: Server
  take(socket: TLSSocket): Promise<void>
}

export function isPublicProtocol(protocol: string | false | null): protocol is PublicProtocol {
  return Object.values(PublicProtocol).some((one) => one === protocol)
}

/**
 * Answers the public at the names of the API and the registry, as a gateway beside the API passes it on. Only
 * a gateway may bring it. Its requests count as the public's: they have no right of the gateway, and reach no
 * path for parts.
 */
export function createPublicEntrance({ hosts, handle, pushesAt }: PublicEntranceOptions): PublicEntrance {
  const server = createApiServer((request, response) => {
    notePublic(request)
    return handle(request, response)
  })
  return {
    server,
    async take(socket) {
      const part = await hosts.partOf(socket).catch(() => undefined)
      if (part?.part !== PlatformPart.Gateway) socket.destroy()
      else if (socket.alpnProtocol === PublicProtocol.Api) server.emit('connection', socket)
      else if (pushesAt === undefined) socket.destroy()
      else join(socket, pushesAt)
    },
  }
}

/** Passes bytes in both directions until one end has closed. What the owner has sent still arrives. */
function join(socket: TLSSocket, place: { readonly host: string; readonly port: number }): void {
  const owner = connect({ ...place, noDelay: true })
  socket.once('close', () => owner.destroy())
  owner.on('error', () => socket.destroy())
  owner.once('close', () => {
    if (!socket.writableEnded) socket.destroy()
  })
  socket.pipe(owner).pipe(socket)
}
