import type { Socket } from 'node:net'
import { Roster } from '../roster.ts'
import { joinFieldLines } from './field-lines.ts'
import type { RequestHead } from './request-head.ts'

/** The public port at which a connection came in. */
export interface Arrival {
  /** The port as the service publishes it: without `ROOST_PORT_OFFSET`. */
  readonly publicPort: number
  readonly secure: boolean
}

/** Work on a request, such as its answer or a tunnel, that ends with the client's connection. */
export interface Ongoing {
  clientGone(): void
  /**
   * Called when the client sends something after the head of the request that is not HTTP. Returns false if
   * an answer is already under way, so that no other answer can be given.
   */
  clientFailed(status: number, message: string): boolean
  /** The bytes of the body and the answer that are held at the moment. */
  readonly heldBytes: number
  /** Whether the work is a tunnel, which lasts for as long as both sides want. */
  readonly isTunnel: boolean
  /** Asks for a polite end, if the protocol has a way. */
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
  /** True once something in the connection was not HTTP. Then nothing more of the connection is read. */
  failed = false
  /** The number of HTTP/1.1 requests so far. */
  requests = 0
  /** The number of HTTP/2 streams whose answer the client has not taken completely yet. */
  openStreams = 0
  /** The time when a request last ended, or a byte of a tunnel last passed. */
  movedAtMs = performance.now()
  readonly #visiblePort: number
  #lastAuthority: string | undefined
  #lastFields: readonly string[] = []
  #lastLines = ''

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

  /**
   * The fields that tell an instance where a request came from. They are kept for the last authority,
   * because the next request mostly has the same one.
   */
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
      this.#lastLines = joinFieldLines(this.#lastFields)
    }
    return this.#lastFields
  }

  /** The same fields as lines. */
  originLines(authority: string): string {
    this.originFields(authority)
    return this.#lastLines
  }

  /**
   * The origin fields of a request from a trusted proxy. The values that the proxy sent are kept; where a
   * field is a chain, this connection is added at its end.
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

/**
 * The address of a client. A socket that accepts IPv4 and IPv6 shows an IPv4 client as an IPv6 address; this
 * returns the IPv4 address.
 */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
