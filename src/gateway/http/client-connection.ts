import type { Socket } from 'node:net'
import { Roster } from '../roster.ts'
import type { RequestHead } from './request-head.ts'

/** Where a connection came in. */
export interface Arrival {
  /** Without the offset. */
  readonly publicPort: number
  readonly secure: boolean
}

/** Ends with the connection of the client. */
export interface Ongoing {
  clientGone(): void
  /**
   * What came after the head is not HTTP. False where an answer is already under way, so that none can be
   * given.
   */
  clientFailed(status: number, message: string): boolean
  /** Of its body and its answer, for now. */
  readonly heldBytes: number
  /** It lasts for as long as both sides want. */
  readonly isTunnel: boolean
  /** It is to end politely, if it has a way to. */
  goAway(): void
}

/** What all requests of one connection share. */
export class ClientConnection {
  readonly arrival: Arrival
  readonly peer: string
  readonly trusted: boolean
  readonly http2: boolean
  /** Of the TLS handshake; empty where it named none. */
  readonly serverName: string
  readonly ongoing = new Roster<Ongoing>()
  /** Something in it was not HTTP: nothing more of it is read. */
  failed = false
  /** Of HTTP/1.1, so far. */
  requests = 0
  /** Of HTTP/2, until their client has taken everything. */
  openStreams = 0
  /** When a request ended, or a byte of a tunnel passed. */
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

  /** What is held of bodies and answers because somebody does not take it. */
  get heldBytes(): number {
    if (this.ongoing.size === 0) return 0
    let sum = 0
    for (const { heldBytes } of this.ongoing) sum += heldBytes
    return sum
  }

  /** Whether all that goes over it lasts; false where nothing does. */
  get hasTunnelsAlone(): boolean {
    for (const { isTunnel } of this.ongoing) if (!isTunnel) return false
    return this.ongoing.size > 0
  }

  get visiblePort(): number {
    return this.#visiblePort
  }

  /** Kept for the last authority, which is that of the next request too. */
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

  /** Behind a proxy that is trusted: what it says stands, and it is added to the chain. */
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

/** An IPv4 client of a socket that takes both kinds is shown as what it is. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
