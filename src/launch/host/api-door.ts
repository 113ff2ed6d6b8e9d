import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { hostAndPort, readHostAndPort } from '../../domain/host-and-port.ts'

export interface ApiDoorOptions {
  /** Where the processes of the API are, as far as this machine knows. At least one. */
  readonly addresses: readonly string[]
  /** Asks the API at an address where all of them are. Throws if it does not answer. */
  readonly look: (address: string, signal: AbortSignal) => Promise<readonly string[]>
  /** Called when other addresses are known than before. */
  readonly onAddresses: (addresses: readonly string[]) => Promise<void>
  /** Called when the door leads to another process of the API. */
  readonly onMoved: (address: string) => void
}

interface Passage {
  readonly address: string
  readonly client: Socket
}

const host = '127.0.0.1'
const connectMs = 1_000
/** An API that does not answer a look within this time is given up, if there is another one. */
const lookLimitMs = 1_000
/** The pause between two looks. Together with the limit it is less than two seconds. */
const lookEveryMs = 500
/** The pause while there is one API only, so that another one is noticed. */
const calmLookEveryMs = 5_000
/** The parts of one machine have some ten connections, and a gateway those of its users. */
const maxConnections = 8_192

/**
 * A port of the loopback that leads to a process of the API which answers. The parts of a machine that
 * joined know this port alone. The bytes pass as they are: the parts and the API do TLS with each other. When
 * the API behind the door dies or hangs, its connections end, and the next ones lead to another process.
 */
export class ApiDoor {
  readonly #options: ApiDoorOptions
  readonly #server: Server
  readonly #passages = new Set<Passage>()
  readonly #stopping = new AbortController()
  #addresses: readonly string[]
  #current: string

  private constructor(options: ApiDoorOptions) {
    this.#options = options
    this.#addresses = options.addresses
    this.#current = options.addresses[0]!
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => void this.#pass(client))
    this.#server.maxConnections = maxConnections
  }

  static async open(options: ApiDoorOptions): Promise<ApiDoor> {
    const door = new ApiDoor(options)
    door.#server.listen(0, host)
    await once(door.#server, 'listening')
    void door.#keepLooking()
    return door
  }

  /** Where the parts of this machine reach the API, such as `127.0.0.1:34567`. */
  get address(): string {
    const { port } = this.#server.address() as AddressInfo
    return hostAndPort({ host, port })
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const { client } of this.#passages) client.destroy()
    await closed
  }

  /** All known addresses, the current one first. */
  get #inOrder(): readonly string[] {
    return [this.#current, ...this.#addresses.filter((address) => address !== this.#current)]
  }

  async #pass(client: Socket): Promise<void> {
    client.on('error', () => undefined)
    const current = this.#current
    for (const address of this.#inOrder) {
      const server = await connected(address)
      if (server === undefined) continue
      if (client.destroyed || this.#stopping.signal.aborted) {
        server.destroy()
        break
      }
      // The door may lead elsewhere since this began, and must not be moved back.
      if (this.#current === current || this.#current === address) return this.#join(client, server, address)
      server.destroy()
      return await this.#pass(client)
    }
    client.destroy()
  }

  #join(client: Socket, server: Socket, address: string): void {
    this.#moveTo(address)
    const passage = { address, client }
    this.#passages.add(passage)
    server.on('error', () => client.destroy())
    // What it has sent still arrives.
    server.once('close', () => client.end())
    client.once('close', () => {
      this.#passages.delete(passage)
      server.destroy()
    })
    client.pipe(server).pipe(client)
  }

  /** Ends what leads elsewhere, so that the parts connect again. */
  #moveTo(address: string): void {
    if (address === this.#current) return
    this.#current = address
    for (const passage of this.#passages) {
      if (passage.address !== address) passage.client.destroy()
    }
    this.#options.onMoved(address)
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#look().catch(() => undefined)
      const pauseMs = this.#addresses.length > 1 ? lookEveryMs : calmLookEveryMs
      await delay(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    const { signal } = this.#stopping
    for (const address of this.#inOrder) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(lookLimitMs)])
      const found = await this.#options.look(address, limit).catch(() => undefined)
      if (signal.aborted) return
      if (found === undefined) continue
      this.#moveTo(address)
      await this.#learn(found)
      return
    }
  }

  async #learn(found: readonly string[]): Promise<void> {
    // An API that has just begun may not be in the list yet.
    const addresses = [...new Set([...found, this.#current])].sort()
    if (addresses.join() === [...this.#addresses].sort().join()) return
    this.#addresses = addresses
    await this.#options.onAddresses(addresses)
  }
}

/** Undefined if nothing listens there, or not in time. */
async function connected(address: string): Promise<Socket | undefined> {
  const place = readHostAndPort(address)
  if (place?.port === undefined) return undefined
  const socket = connect({ host: place.host, port: place.port, allowHalfOpen: true, noDelay: true })
  const late = setTimeout(() => socket.destroy(), connectMs)
  try {
    await Promise.race([
      once(socket, 'connect'),
      once(socket, 'close').then(() => Promise.reject(new Error())),
    ])
    return socket
  } catch {
    socket.destroy()
    return undefined
  } finally {
    clearTimeout(late)
  }
}
