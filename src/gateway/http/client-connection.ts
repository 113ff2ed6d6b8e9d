import type { Socket } from 'node:net'
import { Roster } from '../roster.ts'
import type { RequestHead } from './request-head.ts'

/** Where a connection came in. */
export interface Arrival {
  /** The port without the offset. */
  readonly publicPort: number
  readonly secure: boolean
}

/** Something under way that ends with the connection of the client. */
export interface Ongoing {
  clientGone(): void
  /**
   * Called when what came after the head is not HTTP. Returns false if an answer is already under way, so
   * that none can be given.
   */
  clientFailed(status: number, message: string): boolean
  /** Bytes of its body and its answer that are held at the moment. */
  readonly heldBytes: number
  /** Whether it lasts for as long as both sides want. */
  readonly isTunnel: boolean
  /** Asks it to end politely, if it has a way to. */
  goAway(): void
}

/** What all requests of one connection share. */
export class ClientConnection {
  readonly arrival: Arrival
  readonly peer: string
  readonly trusted: boolean
  readonly http2: boolean
  /** The name in the TLS handshake; empty if the handshake named none. */
  readonly serverName: string
  readonly ongoing = new Roster<Ongoing>()
  /** Something in the connection was not HTTP: nothing more of it is read. */
  failed = false
  /** Requests of HTTP/1.1 so far. */
  requests = 0
  /** Streams of HTTP/2 of which the client has not taken everything yet. */
  openStreams = 0
  /** When a request last ended, or a byte of a tunnel last passed. */
  movedAtMs = performance.now()
  readonly #visiblePort: number
  #lastAuthority: string | undefined
  #lastFields: readonly string[] = []

  constructor(options: {
    readonly socket: Socket
    readonly arrival: Arrival
    readonly http2: boolean
    readonly portOffset: number
    readonly trustsPeer: ((address: string) => boolean) | undefined
  }) {
    const { socket, arrival } = options
    this.arrival = arrival
    this.http2 = options.http2
    this.peer = plainAddress(socket.remoteAddress ?? 'unknown')
    this.trusted = options.trustsPeer?.(this.peer) ?? false
    this.#visiblePort = arrival.publicPort + options.portOffset
    const serverName = 'servername' in socket ? socket.servername : undefined
    this.serverName = typeof serverName === 'string' ? serverName.toLowerCase().replace(/\.$/, '') : ''
  }

  /** Bytes of bodies and answers that are held because one side does not take them. */
  get heldBytes(): number {
    if (this.ongoing.size === 0) return 0
    let sum = 0
    for (const { heldBytes } of this.ongoing) sum += heldBytes
    return sum
  }

  /** Whether everything under way over the connection is a tunnel; false if nothing is under way. */
  get hasTunnelsAlone(): boolean {
    for (const { isTunnel } of this.ongoing) if (!isTunnel) return false
    return this.ongoing.size > 0
  }

  get visiblePort(): number {
    return this.#visiblePort
  }

  /** The fields are kept for the last authority, which is that of the next request, too. */
  originFields(authority: string): readonly string[] {
    if (authority !== this.#lastAuthority) {
      this.#lastAuthority = authority
      this.#lastFields = [
        'X-Forwarded-For',
        this.peer,
        'X-Forwarded-Proto',
        this.arrival.secure ? 'https' : 'http',
        'X-Forwarded-Host',
        authority,
        'X-Forwarded-Port',
        String(this.#visiblePort),
        'Forwarded',
        this.#element(authority),
      ]
    }
    return this.#lastFields
  }

  /**
   * The fields of a request from a trusted proxy: what the proxy says stands, and the connection is added to
   * the chain.
   */
  chainedOriginFields(head: RequestHead): readonly string[] {
    const said = (name: string): string | undefined => {
      const values = head.fields.filter(
        (_, index) => index % 2 === 1 && head.fields[index - 1]?.toLowerCase() === name,
      )
      return values.length === 0 ? undefined : values.join(', ')
    }
    const chain = (name: string, own: string): string => {
      const before = said(name)
      return before === undefined ? own : `${before}, ${own}`
    }
    return [
      'X-Forwarded-For',
      chain('x-forwarded-for', this.peer),
      'X-Forwarded-Proto',
      said('x-forwarded-proto') ?? (this.arrival.secure ? 'https' : 'http'),
      'X-Forwarded-Host',
      said('x-forwarded-host') ?? head.authority,
      'X-Forwarded-Port',
      said('x-forwarded-port') ?? String(this.#visiblePort),
      'Forwarded',
      chain('forwarded', this.#element(head.authority)),
    ]
  }

  #element(authority: string): string {
    const peer = this.peer.includes(':') ? `"[${this.peer}]"` : this.peer
    return `for=${peer};host="${authority}";proto=${this.arrival.secure ? 'https' : 'http'}`
  }
}

/** A socket that takes both kinds shows an IPv4 client as an IPv6 address; this returns the IPv4 address. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
