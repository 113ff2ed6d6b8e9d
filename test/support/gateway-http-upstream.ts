import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

/** A server on loopback in place of an application. */
export class Upstream {
  readonly port: number
  /** Every connection that was accepted, in order. */
  readonly sockets: readonly Socket[]
  readonly #server: Server

  private constructor(server: Server, sockets: readonly Socket[]) {
    this.#server = server
    this.sockets = sockets
    this.port = (server.address() as AddressInfo).port
  }

  static async http(
    listener: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  ): Promise<Upstream> {
    const server = createHttpServer((request, response) => void listener(request, response))
    // The server itself closes no idle connection, because tests check which connections the gateway closes.
    server.keepAliveTimeout = 0
    return Upstream.listening(server)
  }

  /** A raw server: `onHead` gets each complete head of a request and may write anything. */
  static async raw(onHead: (socket: Socket, head: string) => void): Promise<Upstream> {
    const server = createServer((socket) => {
      let received = ''
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1')
        for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
          const head = received.slice(0, end + 4)
          received = received.slice(end + 4)
          onHead(socket, head)
        }
      })
    })
    return Upstream.listening(server)
  }

  static async listening(server: Server | HttpServer, port = 0): Promise<Upstream> {
    const sockets: Socket[] = []
    server.on('connection', (socket: Socket) => sockets.push(socket))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return new Upstream(server, sockets)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.sockets) socket.destroy()
  }
}
