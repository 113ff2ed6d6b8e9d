import type { ClientLimits } from './client-limits.ts'
import { ClientNetwork } from './client-network.ts'
import { OpenConnection } from './client-network.ts'
import type { ClientSocket } from './client-network.ts'
import { Standing } from './connection-use.ts'
import { holdersOverBudget } from './held-bytes.ts'
import type { Holder } from './held-bytes.ts'
import { networksOf, plainAddress } from './source.ts'
import type { SourceNetwork } from './source.ts'

/** Why a connection was closed for the sake of others. */
export const ClosedFor = { Idle: 'idle', Silent: 'silent', Busy: 'busy', Memory: 'memory' } as const
export type ClosedFor = (typeof ClosedFor)[keyof typeof ClosedFor]

/** The bound that refused a connection. */
export type ConnectionRefusal = 'connections' | 'connections-of-source'

export interface ClientObserver {
  closed(why: ClosedFor): void
  /** `source`: the client's network, or the client itself if a trusted proxy named it. */
  overBudget(holder: { readonly source: string; readonly bytes: number }): void
}

const closedFor = {
  [Standing.Idle]: ClosedFor.Idle,
  [Standing.Lasting]: ClosedFor.Silent,
  [Standing.Busy]: ClosedFor.Busy,
} as const
const lookEveryMs = 1_000
/**
 * The number of connections that may be open beyond the bound of all, because their trusted proxies have not
 * named their clients yet. They wait for one packet.
 */
const maxUnsettled = 256

/**
 * All open connections of clients, over all ports and protocols, kept within two kinds of bounds: one for
 * each network, and one for all together. When a bound is reached, the idlest connection is closed for a new
 * one:
 * - Bound of a network: an idle connection of that network. If there is none, the newcomer is refused.
 * - Bound of all: a connection of the network that has most: an idle one, else the one that was silent for
 *   longest. Then of the next networks, as far as they have as many as the newcomer's network. If none of
 *   these has an idle or silent connection: a busy one of the network that has most, if that network still
 *   has as many as the newcomer's afterwards. Otherwise the newcomer is refused.
 *
 * So a client with few connections gets in, and keeps them, whatever another has. Networks are compared by
 * the widest network that an address is in, and within it by its parts: many small networks that one hand
 * may have count together.
 *
 * Over one trusted proxy many clients come. As long as nothing says which of its connections belong to one
 * client, each of them counts as a source of its own. So only the bound of all holds for the proxy, and
 * nobody with many connections displaces it.
 */
export class ClientConnections {
  readonly #limits: ClientLimits
  readonly #observer: ClientObserver
  readonly #networks = new Map<string, ClientNetwork>()
  /** The widest networks, grouped by their number of connections. */
  readonly #byCount: Set<ClientNetwork>[] = []
  readonly #look: NodeJS.Timeout
  #most = 0
  #all = 0
  /** How many connections came from trusted proxies so far. It makes their names different. */
  #fromProxies = 0

  constructor(limits: ClientLimits, observer: ClientObserver) {
    this.#limits = limits
    this.#observer = observer
    this.#look = setInterval(() => this.#endThoseOverBudget(), lookEveryMs).unref()
  }

  get all(): number {
    return this.#all
  }

  get limit(): number {
    return this.#limits.connections
  }

  /**
   * Accepts the connection, or names the bound that refuses it. An accepted connection counts until it
   * closes.
   */
  take(socket: ClientSocket): OpenConnection | ConnectionRefusal {
    const networks = networksOf(socket.remoteAddress ?? '')
    return this.#refusalOf(networks) ?? this.#begin(socket, networks)
  }

  /**
   * Like `take`, for a connection of a trusted proxy. Whether it displaces another one is decided by
   * `settle`, which the caller calls as soon as it knows the client.
   */
  takeFromProxy(socket: ClientSocket): OpenConnection | ConnectionRefusal {
    if (this.#all >= this.#limits.connections + maxUnsettled) return 'connections'
    this.#fromProxies += 1
    const name = `${plainAddress(socket.remoteAddress ?? '')} (connection ${this.#fromProxies})`
    return this.#begin(socket, [{ name, times: 1 }])
  }

  /**
   * Decides about a connection of `takeFromProxy` that is still open. From now on it counts as one of
   * `client`'s or, if that is undefined, still as a source of its own. Returns the bound that refuses it;
   * the caller then closes the connection, which does not count any more.
   */
  settle(connection: OpenConnection, client: string | undefined): ConnectionRefusal | undefined {
    const { network } = connection
    if (network === undefined) return undefined
    const networks = client === undefined ? [network.source] : networksOf(client)
    this.#leave(connection)
    const refusal = this.#refusalOf(networks)
    if (refusal === undefined) this.#enter(connection, networks)
    return refusal
  }

  /**
   * Ends all connections over which no request is under way, each in the way of its protocol: a WebSocket is
   * told that the gateway goes away.
   */
  endUnused(): void {
    for (const widest of this.#networks.values()) {
      for (const source of widest.sources()) {
        for (const connection of source.connections) {
          if (connection.standing(Infinity) !== Standing.Busy) this.#release(connection)
        }
      }
    }
  }

  close(): void {
    clearInterval(this.#look)
  }

  /** Makes room for a connection of these networks, or names the bound that it would exceed. */
  #refusalOf(networks: readonly SourceNetwork[]): ConnectionRefusal | undefined {
    let network: ClientNetwork | undefined
    for (const [level, { name, times }] of networks.entries()) {
      network = level === 0 ? this.#networks.get(name) : network?.parts.get(name)
      if (network === undefined) break
      const isFull = network.count >= this.#limits.connectionsPerSource * times
      if (isFull && !this.#closeIdle(network)) return 'connections-of-source'
    }
    const own = this.#networks.get(networks[0]?.name ?? '')?.count ?? 0
    return this.#all < this.#limits.connections || this.#makeRoom(own) ? undefined : 'connections'
  }

  #begin(socket: ClientSocket, networks: readonly SourceNetwork[]): OpenConnection {
    const connection = new OpenConnection(socket)
    this.#enter(connection, networks)
    socket.once('close', () => this.#leave(connection))
    return connection
  }

  #enter(connection: OpenConnection, networks: readonly SourceNetwork[]): void {
    let network: ClientNetwork | undefined
    for (const source of networks) {
      const siblings: Map<string, ClientNetwork> = network?.parts ?? this.#networks
      const found = siblings.get(source.name) ?? new ClientNetwork(source, network)
      siblings.set(source.name, found)
      network = found
    }
    if (network === undefined) return
    connection.network = network
    connection.entry = network.connections.add(connection)
    this.#count(network, 1)
  }

  /** Stops counting a connection. Idempotent. */
  #leave(connection: OpenConnection): void {
    const { network, entry } = connection
    if (network === undefined || entry === undefined) return
    connection.network = undefined
    connection.entry = undefined
    network.connections.remove(entry)
    this.#count(network, -1)
  }

  #count(network: ClientNetwork, more: 1 | -1): void {
    this.#all += more
    for (const each of network.path) {
      each.count += more
      const siblings = each.wider?.parts ?? this.#networks
      if (each.count === 0) siblings.delete(each.source.name)
      if (each.wider === undefined) this.#rank(each, each.count - more)
    }
  }

  #rank(widest: ClientNetwork, countBefore: number): void {
    const { count } = widest
    this.#byCount[countBefore]?.delete(widest)
    if (count > 0) (this.#byCount[count] ??= new Set()).add(widest)
    this.#most = Math.max(this.#most, count)
    while (this.#most > 0 && (this.#byCount[this.#most]?.size ?? 0) === 0) this.#most -= 1
  }

  #closeIdle(network: ClientNetwork): boolean {
    const search = new Search(this.#limits)
    for (const source of network.sources()) {
      search.look(source)
      if (search.found?.standing === Standing.Idle) return this.#end(search.found)
      if (search.isOver) break
    }
    return false
  }

  /** `own`: how many connections the newcomer's network has. */
  #makeRoom(own: number): boolean {
    const search = new Search(this.#limits)
    for (let count = this.#most; count >= Math.max(1, own) && !search.isOver; count--) {
      for (const network of this.#byCount[count] ?? []) {
        for (const source of network.sources()) {
          if (!search.isOver) search.look(source)
          if (search.found !== undefined && search.found.standing !== Standing.Busy) break
        }
      }
      const { found } = search
      if (found !== undefined && found.standing !== Standing.Busy) return this.#end(found)
    }
    // `search.busy` belongs to the network that was looked at first, which is the one with most
    // connections.
    return this.#most > own + 1 && search.busy !== undefined && this.#end(search.busy)
  }

  #release(connection: OpenConnection): void {
    this.#leave(connection)
    connection.end(this.#limits.endMs)
  }

  #end({ connection, standing }: Found): boolean {
    this.#release(connection)
    this.#observer.closed(closedFor[standing])
    return true
  }

  #endThoseOverBudget(): void {
    const { heldBytes, heldBytesPerSource } = this.#limits
    const holders: (Holder & { readonly connection: OpenConnection })[] = []
    for (const widest of this.#networks.values()) {
      for (const source of widest.sources()) {
        const networks = source.path.map((each) => each.source).toReversed()
        for (const connection of source.connections) {
          const { heldBytes: bytes } = connection
          // Nearly all connections hold no bytes at nearly all times, so few get into the list.
          if (bytes > 0) holders.push({ connection, networks, bytes })
        }
      }
    }
    if (holders.length === 0) return
    const budgets = { perSourceBytes: heldBytesPerSource, allBytes: heldBytes }
    for (const { connection, networks, bytes } of holdersOverBudget(holders, budgets)) {
      const source = connection.use?.clientBehind ?? networks.at(-1)?.name ?? ''
      this.#release(connection)
      this.#observer.closed(ClosedFor.Memory)
      this.#observer.overBudget({ source, bytes })
    }
  }
}

interface Found {
  readonly connection: OpenConnection
  readonly standing: Standing
}

/** A search for the connection that is missed least, among a bounded number. */
class Search {
  found: Found | undefined
  /** A busy connection of the first network that had any. */
  busy: Found | undefined
  readonly #lookedAtMost: number
  readonly #activeSinceMs: number
  #looked = 0

  constructor({ lookedAt, activeMs }: ClientLimits) {
    this.#lookedAtMost = lookedAt
    this.#activeSinceMs = performance.now() - activeMs
  }

  get isOver(): boolean {
    return this.#looked >= this.#lookedAtMost
  }

  look({ connections }: ClientNetwork): void {
    this.#looked += connections.size
    let busy: Found | undefined
    for (const connection of connections) {
      const one = { connection, standing: connection.standing(this.#activeSinceMs) }
      if (one.standing === Standing.Busy) busy = better(one, busy)
      this.found = better(one, this.found)
    }
    this.busy ??= busy
  }
}

function better(one: Found, other: Found | undefined): Found {
  if (other === undefined) return one
  if (one.standing !== other.standing) return one.standing < other.standing ? one : other
  return one.connection.movedAtMs < other.connection.movedAtMs ? one : other
}
