import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RegistryRefusal } from './registry-refusal.ts'

/**
 * The most requests that a user may have under way. docker sends five layers side by side and skopeo six, so
 * a user with five pushes at once stays below this.
 */
export const maxRequestsPerUser = 32
/**
 * The most connections of clients. Each needs a file descriptor here, and mostly a second one for the
 * connection to the registry.
 */
const defaultMaxConnections = 2_048

/**
 * The requests and connections that are under way at the owner of the registry. Both are bounded, so that no
 * user takes everything with requests that never end. A user has at most `maxRequestsPerUser` requests. A
 * request is under way until its answer has been sent, or its connection is closed. When all connections are
 * taken and a new one comes, the connection that has been without a user's request for longest is closed.
 * There is no bound by address, since all users may come from one address: the owner listens on the
 * loopback, mostly behind a proxy.
 */
export class OpenRequests {
  readonly #maxConnections: number
  readonly #byUser = new Map<string, number>()
  /**
   * Connections without a user's request. The connection that has been in this state for longest comes
   * first.
   */
  readonly #spare = new Set<Socket>()
  /** How many requests of users each connection has under way. */
  readonly #used = new Map<Socket, number>()

  constructor(maxConnections = defaultMaxConnections) {
    this.#maxConnections = maxConnections
  }

  connected(socket: Socket): void {
    socket.once('close', () => {
      this.#spare.delete(socket)
      this.#used.delete(socket)
    })
    if (this.#spare.size + this.#used.size >= this.#maxConnections) {
      const [longest = socket] = this.#spare
      this.#spare.delete(longest)
      longest.destroy()
    }
    if (!socket.destroyed) this.#spare.add(socket)
  }

  /** Throws a refusal if the user has too many requests. */
  begin(user: string, request: IncomingMessage, response: ServerResponse): void {
    const count = this.#byUser.get(user) ?? 0
    if (count >= maxRequestsPerUser) throw tooMany(user)
    // The end may have come already, and would not be reported again.
    if (request.closed || response.closed || request.socket.destroyed) return
    this.#byUser.set(user, count + 1)
    this.#use(request.socket, 1)
    let parts = 2
    const end = (): void => {
      parts -= 1
      if (parts === 0) this.#end(user, request.socket)
    }
    request.once('close', end)
    response.once('close', end)
  }

  #end(user: string, socket: Socket): void {
    const left = (this.#byUser.get(user) ?? 0) - 1
    if (left > 0) this.#byUser.set(user, left)
    else this.#byUser.delete(user)
    if (!socket.destroyed) this.#use(socket, -1)
  }

  #use(socket: Socket, more: 1 | -1): void {
    const count = (this.#used.get(socket) ?? 0) + more
    if (count > 0) {
      this.#spare.delete(socket)
      this.#used.set(socket, count)
    } else {
      this.#used.delete(socket)
      this.#spare.add(socket)
    }
  }
}

function tooMany(user: string): RegistryRefusal {
  const whose = user === '' ? 'clients without a login have' : `'${user}' has`
  return new RegistryRefusal(
    'TOOMANYREQUESTS',
    `${whose} ${maxRequestsPerUser} requests under way at the registry, which is the most; try again when some have ended`,
  )
}
