import { feedBeatMs, maxFeedLineBytes } from '../../domain/service/route-feed.ts'
import type { NameLine } from '../../domain/service/route-feed.ts'
import { LineStream } from '../../primitives/line-stream.ts'
import type { LineStreamChange, LineStreamOptions, LineStreamRequest } from '../../primitives/line-stream.ts'
import { DnsForwarder } from './dns-forwarder.ts'
import { DnsServer } from './dns-server.ts'
import { NamesFile } from './names-file.ts'
import { PrivateNames } from './private-names.ts'

/** The number of missing beats after which the connection to the API counts as dead. */
const missedBeats = 3

/** What the private DNS needs from the network. */
export interface DnsNetwork {
  readonly hostAddress: string
  ownerOf(ip: string): string | undefined
  /** Lets instances reach the DNS port. Called once the server answers there. */
  admitDns(): Promise<void>
}

export interface PrivateDnsOptions {
  readonly network: DnsNetwork
  /** The path of the file that keeps the names for the next agent's start. */
  readonly file: string
  /**
   * Returns the request `GET /internal/nodes/<id>/names` with this host's credential. `since` is the last
   * revision that was read.
   */
  readonly ask: (since: string | undefined) => LineStreamRequest
  /**
   * The address of the host's nameserver. It is absent if instances may ask only for the names of their
   * user.
   */
  readonly nameserver?: string
  /** How connections to the API are made. Absent: it is on this machine. */
  readonly connect?: LineStreamOptions['connect']
  readonly onChange?: (change: LineStreamChange) => void
  readonly warn: (message: string) => void
}

/**
 * The private names for the instances of this host. It connects the API's stream, the table of names and
 * the server. While the API is unreachable, the last names stay valid.
 */
export class PrivateDns {
  readonly names = new PrivateNames()
  readonly #options: PrivateDnsOptions
  readonly #file: NamesFile
  readonly #server: DnsServer
  readonly #stream: LineStream
  #savedChanges = 0
  #onNames: () => void = () => undefined

  constructor(options: PrivateDnsOptions) {
    this.#options = options
    const { network, nameserver, ask, connect, onChange } = options
    this.#file = new NamesFile({ path: options.file, current: () => this.names.all(), warn: options.warn })
    this.#server = new DnsServer({
      address: network.hostAddress,
      names: this.names,
      ownerOf: (ip) => network.ownerOf(ip),
      ...(nameserver === undefined ? {} : { forwarder: new DnsForwarder({ host: nameserver }) }),
    })
    this.#stream = new LineStream({
      ask: () => ask(this.names.revision),
      maxLineBytes: maxFeedLineBytes,
      silenceMs: missedBeats * feedBeatMs,
      onLine: (line) => this.#apply(line as NameLine),
      ...(connect && { connect }),
      ...(onChange === undefined ? {} : { onChange }),
    })
  }

  /**
   * Starts the server and the stream. If another program uses the port, instances get no names, but
   * everything else works.
   */
  async open(): Promise<void> {
    this.names.remember(await this.#file.load())
    this.#savedChanges = this.names.changes
    this.#onNames()
    this.#stream.start()
    try {
      await this.#server.open()
    } catch (error) {
      this.#options.warn(`instances have no names on this host: ${(error as Error).message}`)
      return
    }
    await this.#options.network.admitDns()
  }

  /** Calls the listener whenever the names have changed. */
  onNames(listener: () => void): void {
    this.#onNames = listener
  }

  async close(): Promise<void> {
    await this.#stream.stop()
    await this.#server.close()
    await this.#file.close()
  }

  #apply(line: NameLine): void {
    this.names.apply(line)
    if (line.kind !== 'end' || this.names.changes === this.#savedChanges) return
    this.#savedChanges = this.names.changes
    this.#file.saveSoon()
    this.#onNames()
  }
}
