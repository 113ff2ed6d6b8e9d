import type { TLSSocket } from 'node:tls'
import { Standing } from '../../clients/connection-use.ts'
import type { ConnectionUse } from '../../clients/connection-use.ts'
import type { ClientConnection } from '../client-connection.ts'
import type { FrontParts } from '../front-parts.ts'
import { HttpUse } from '../http-use.ts'
import { ErrorCode } from './frames.ts'
import { Http2Connection } from './http2-connection.ts'

/** Speaks HTTP/2 on connections that are given to it one by one. */
export class Http2Server {
  readonly #parts: FrontParts
  readonly #connections = new Set<Http2Connection>()

  constructor(parts: FrontParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#connections.size
  }

  serve(socket: TLSSocket, client: ClientConnection): ConnectionUse {
    const connection = new Http2Connection({
      socket,
      client,
      parts: this.#parts,
      onClosed: () => this.#connections.delete(connection),
    })
    this.#connections.add(connection)
    return new HttpUse(client, {
      hasUnsent: () => connection.hasStreams,
      unsentBytes: () => connection.unsentBytes,
      end: (standing) => {
        if (standing === Standing.Busy) connection.fail(ErrorCode.EnhanceYourCalm)
        else connection.end()
      },
    })
  }

  /**
   * Has the clients use other connections for what follows. It is the first of two steps (RFC 9113, 6.8):
   * what a client sends before it knows is still served.
   */
  retire(): void {
    for (const connection of this.#connections) connection.retire()
  }

  drain(): void {
    for (const connection of this.#connections) connection.end()
  }

  close(): void {
    for (const connection of this.#connections) connection.socket.destroy()
  }
}
