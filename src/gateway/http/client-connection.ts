import type { Socket } from 'node:net'
import { plainAddress } from '../clients/source.ts'
import type { TrustsPeer } from '../clients/trusted-proxies.ts'
import { Roster } from '../roster.ts'
import { joinFieldLines } from './field-lines.ts'
import type { RequestHead } from './request-head.ts'
import { chainedFields, clientBehind, saysSecure } from './trusted-origin.ts'

/** The public port at which a connection came in. */
export interface Arrival {
  /** The port as the service publishes it: without `ROOST_PORT_OFFSET`. */
  readonly publicPort: number
  readonly secure: boolean
  /** The client's address, if a trusted proxy gave it in a PROXY header. */
  readonly client?: string | undefined
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
  /** The address at the other end or, after a PROXY header, the one that the header gives. */
  readonly peer: string
  /** Whether `peer` is a trusted proxy, so that its fields about the origin of a request are believed. */
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
  /** The head of the last request that was routed. It is only kept of a trusted proxy. */
  lastHead: RequestHead | undefined
  readonly #visiblePort: number
  readonly #trustsPeer: TrustsPeer
  #lastAuthority: string | undefined
  #lastFields: readonly string[] = []
  #lastLines = ''

  constructor(options: {
    readonly socket: Socket
    readonly arrival: Arrival
    readonly http2: boolean
    readonly portOffset: number
    readonly trustsPeer: TrustsPeer | undefined
  }) {
    const { socket, arrival } = options
    this.arrival = arrival
    this.http2 = options.http2
    this.#trustsPeer = options.trustsPeer ?? (() => false)
    this.peer = arrival.client ?? plainAddress(socket.remoteAddress ?? 'unknown')
    this.trusted = this.#trustsPeer(this.peer)
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
   * The client for which a trusted proxy uses the connection now; undefined if that is not known. Of several
   * requests at the same time, as in HTTP/2, it can not be said whose the connection is.
   */
  get clientBehind(): string | undefined {
    const { lastHead: head } = this
    if (head === undefined || this.http2 || this.ongoing.size !== 1) return undefined
    return clientBehind(this.peer, head.fields, this.#trustsPeer)
  }

  /** Whether a trusted proxy says that the client of this request speaks TLS with it. */
  proxySaysSecure(head: RequestHead): boolean {
    return this.trusted && saysSecure(head.fields)
  }

  /** The fields that tell an instance where a request came from. */
  originFields(head: RequestHead): readonly string[] {
    return this.trusted ? this.#chainedFields(head) : this.#ownFields(head.authority)
  }

  /** The same fields as lines. */
  originLines(head: RequestHead): string {
    if (this.trusted) return joinFieldLines(this.#chainedFields(head))
    this.#ownFields(head.authority)
    return this.#lastLines
  }

  /** They are kept for the last authority, because the next request mostly has the same one. */
  #ownFields(authority: string): readonly string[] {
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

  /**
   * The origin fields of a request from a trusted proxy. The values that the proxy sent are kept; where a
   * field is a chain, this connection is added at its end.
   */
  #chainedFields({ fields, authority }: RequestHead): readonly string[] {
    return chainedFields(fields, {
      peer: this.peer,
      scheme: this.arrival.secure ? 'https' : 'http',
      port: this.#visiblePort,
      element: this.#element(authority),
      authority,
    })
  }

  #element(authority: string): string {
    const peer = this.peer.includes(':') ? `"[${this.peer}]"` : this.peer
    return `for=${peer};host="${authority}";proto=${this.arrival.secure ? 'https' : 'http'}`
  }
}
