import type { Socket } from 'node:net'
import { Roster } from '../roster.ts'
import type { Entry } from '../roster.ts'
import { Standing } from './connection-use.ts'
import type { ConnectionUse } from './connection-use.ts'
import type { SourceNetwork } from './source.ts'

/**
 * A network that has connections open, and the narrower ones within it; the narrowest have the connections.
 */
export class ClientNetwork {
  readonly source: SourceNetwork
  readonly wider: ClientNetwork | undefined
  readonly parts = new Map<string, ClientNetwork>()
  readonly connections = new Roster<OpenConnection>()
  /** Open connections, including those of all parts. */
  count = 0

  constructor(source: SourceNetwork, wider?: ClientNetwork) {
    this.source = source
    this.wider = wider
  }

  /** This network and the wider ones that it is part of, narrowest first. */
  get path(): readonly ClientNetwork[] {
    return this.wider === undefined ? [this] : [this, ...this.wider.path]
  }

  /** The narrowest networks within this one. Those of the part that has most connections come first. */
  *sources(): Generator<ClientNetwork> {
    if (this.parts.size === 0) yield this
    const byCount = [...this.parts.values()].toSorted((one, other) => other.count - one.count)
    for (const part of byCount) yield* part.sources()
  }
}

/** The members of an accepted connection that are needed here. */
export type ClientSocket = Pick<Socket, 'remoteAddress' | 'once' | 'destroy'>

/** An open connection of a client, from its acceptance to its end. */
export class OpenConnection {
  /** The narrowest network of the client; undefined once the connection has closed or was told to close. */
  network: ClientNetwork | undefined
  entry: Entry<OpenConnection> | undefined
  /** What the connection is used for. It is absent during the handshake. */
  use: ConnectionUse | undefined
  readonly #socket: ClientSocket
  readonly #takenAtMs = performance.now()

  /** `socket` is the accepted socket, on which TLS is spoken if there is any. */
  constructor(socket: ClientSocket) {
    this.#socket = socket
  }

  get movedAtMs(): number {
    return this.use?.movedAtMs ?? this.#takenAtMs
  }

  get heldBytes(): number {
    return this.use?.heldBytes ?? 0
  }

  standing(activeSinceMs: number): Standing {
    if (this.use === undefined) return Standing.Idle
    const { standing, movedAtMs } = this.use
    return standing === Standing.Lasting && movedAtMs > activeSinceMs ? Standing.Busy : standing
  }

  /** Ends the connection. It closes after `endMs` at the latest, whatever its client does. */
  end(endMs: number): void {
    if (this.use === undefined) {
      this.#socket.destroy()
      return
    }
    this.use.end()
    const limit = setTimeout(() => this.#socket.destroy(), endMs)
    limit.unref()
    this.#socket.once('close', () => clearTimeout(limit))
  }
}
