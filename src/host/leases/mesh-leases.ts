import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { LeaseServer } from './lease-server.ts'

/**
 * Where gateways of other machines ask for leases on the control plane's own machine. Its agent listens on
 * the loopback for everything else. Here it listens at the machine's address in the mesh, which encrypts what
 * passes and tells who sent it. So a gateway is known by its machine's address. It shows its secret, too.
 */
export class MeshLeases {
  readonly #server: Server

  constructor(leases: Pick<LeaseServer, 'receive'>) {
    this.#server = createServer((_request, response) => response.writeHead(404).end())
    this.#server.on('upgrade', (request, socket, head) => {
      leases.receive(request, socket, head, request.socket.remoteAddress ?? '')
    })
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
