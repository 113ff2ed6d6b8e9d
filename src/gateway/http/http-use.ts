import type { Socket } from 'node:net'
import { Standing } from '../clients/connection-use.ts'
import type { ConnectionUse } from '../clients/connection-use.ts'
import type { ClientConnection } from './client-connection.ts'

/** How a connection of HTTP is seen when room is short. */
export class HttpUse implements ConnectionUse {
  readonly #connection: ClientConnection
  readonly #hasUnsent: () => boolean
  readonly #unsentBytes: () => number
  readonly #end: (standing: Standing) => void

  constructor(
    connection: ClientConnection,
    options: {
      /** Whether the client has not yet taken all of the answers that are over for the gateway. */
      readonly hasUnsent: () => boolean
      /** The bytes of these answers, as far as they are held outside of the requests under way. */
      readonly unsentBytes: () => number
      readonly end: (standing: Standing) => void
    },
  ) {
    this.#connection = connection
    this.#hasUnsent = options.hasUnsent
    this.#unsentBytes = options.unsentBytes
    this.#end = options.end
  }

  get standing(): Standing {
    if (this.#connection.hasTunnelsAlone) return Standing.Lasting
    return this.#connection.ongoing.size > 0 || this.#hasUnsent() ? Standing.Busy : Standing.Idle
  }

  get movedAtMs(): number {
    return this.#connection.movedAtMs
  }

  get heldBytes(): number {
    return this.#connection.heldBytes + this.#unsentBytes()
  }

  get clientBehind(): string | undefined {
    return this.#connection.clientBehind
  }

  end(): void {
    const { standing } = this
    if (standing === Standing.Lasting) for (const each of this.#connection.ongoing) each.goAway()
    this.#end(standing)
  }
}

/** How a connection of HTTP/1.1 is seen. */
export function http1Use(socket: Socket, connection: ClientConnection): ConnectionUse {
  return new HttpUse(connection, {
    hasUnsent: () => socket.writableLength > 0,
    unsentBytes: () => (connection.ongoing.size > 0 ? 0 : socket.writableLength),
    end: (standing) => {
      if (standing === Standing.Busy) socket.destroy()
      else if (standing === Standing.Idle) socket.destroySoon()
    },
  })
}
