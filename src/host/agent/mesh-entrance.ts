import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ToldMesh } from '../../domain/host/mesh.ts'

export interface MeshEntranceOptions {
  /** What the API and workers ask an agent for. */
  readonly calls: Pick<Server, 'emit'>
  /** Takes a request for a program in an instance. Returns false if the request is about something else. */
  readonly exec: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** Takes the connection of a gateway that asks for leases from this address in the mesh. */
  readonly leases: (request: IncomingMessage, socket: Duplex, head: Buffer, address: string) => void
}

/**
 * Where parts of other machines reach the agent of the control plane's own machine, which listens on the
 * loopback for everything else. Here it listens at the machine's address in the mesh, which encrypts what
 * passes and tells which machine sent it. So an API, a worker or a gateway is known by its machine's address.
 * It shows its secret, too.
 */
export class MeshEntrance {
  readonly #server: Server
  #callers: ReadonlySet<string> = new Set()

  constructor({ calls, exec, leases }: MeshEntranceOptions) {
    this.#server = createServer((request, response) => {
      if (this.#isCaller(request)) calls.emit('request', request, response)
      else response.writeHead(404).end()
    })
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.#isCaller(request) && exec(request, socket, head)) return
      leases(request, socket, head, request.socket.remoteAddress ?? '')
    })
  }

  /** From now on only APIs and workers on these machines may call. */
  admit({ controlMachines = [] }: Pick<ToldMesh, 'controlMachines'>): void {
    this.#callers = new Set(controlMachines)
  }

  #isCaller({ socket }: IncomingMessage): boolean {
    return this.#callers.has(socket.remoteAddress ?? '')
  }

  async listen(port: number, address: string): Promise<void> {
    this.#server.listen(port, address)
    await once(this.#server, 'listening')
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
