import type { Socket } from 'node:net'
import type { ConnectionUse } from '../../clients/connection-use.ts'
import type { ClientConnection } from '../client-connection.ts'
import { FastConnection } from './fast-connection.ts'
import type { FrontParts } from '../front-parts.ts'
import type { Http1Server } from './http1-server.ts'
import { lateHead, refuseConnection } from './http1-refusal.ts'
import { http1Use } from '../http-use.ts'

/** The fast road: the connections of HTTP/1.1 whose requests so far were certain. */
export class FastServer {
  readonly #parts: FrontParts
  readonly #fullRoad: Http1Server
  readonly #connections = new Map<Socket, FastConnection>()
  #closing = false

  constructor(parts: FrontParts, fullRoad: Http1Server) {
    this.#parts = parts
    this.#fullRoad = fullRoad
  }

  get size(): number {
    return this.#connections.size
  }

  serve(socket: Socket, connection: ClientConnection): ConnectionUse {
    const closed = (): void => {
      leave()
      for (const ongoing of connection.ongoing) ongoing.clientGone()
    }
    const leave = (): void => {
      fast.leave()
      this.#connections.delete(socket)
    }
    const fast = new FastConnection({
      socket,
      connection,
      parts: this.#parts,
      isClosing: () => this.#closing,
      handOver: (bytes) => {
        leave()
        socket.off('close', closed)
        socket.unshift(bytes)
        this.#fullRoad.serve(socket, connection)
      },
      onLateHead: () => {
        fast.leave()
        refuseConnection(socket, lateHead, this.#parts.limits)
      },
    })
    this.#connections.set(socket, fast)
    socket.on('close', closed)
    return http1Use(socket, connection)
  }

  /** From now on every answer is the last of its connection. Idle connections wait for one more request. */
  retire(): void {
    this.#closing = true
  }

  /** Ends idle connections; the others end with the answer under way. */
  drain(): void {
    this.#closing = true
    for (const [socket, fast] of this.#connections) if (fast.isIdle) socket.destroySoon()
  }

  close(): void {
    this.#closing = true
    for (const socket of this.#connections.keys()) socket.destroy()
  }
}
