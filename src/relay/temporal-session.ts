import { connect } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2'

/** How long a connection to Temporal may take to be made and to get Temporal's first word. */
const connectLimitMs = 5_000
/**
 * How often a connection is tried. If a try was not answered until the next one, the connection is given up:
 * a machine that is gone without a word would otherwise be waited for until TCP gives up, after 15 minutes.
 * Temporal refuses more than one try in 10 s.
 */
const pingEveryMs = 15_000
/** How much of one answer, and of all answers, Temporal may send ahead. */
const streamWindowBytes = 1024 * 1024
const sessionWindowBytes = 4 * 1024 * 1024

/** Temporal's server, and how the connection to it is secured. All texts but the name are PEM. */
export interface RelayedTemporal {
  readonly address: string
  readonly tls?: {
    readonly authority?: string
    readonly serverName?: string
    readonly client?: { readonly certificate: string; readonly key: string }
  }
}

/**
 * The connection to Temporal for the calls of one host. It is made with the first call, and again with the
 * next call after it was lost. Temporal ends each connection after some minutes; then the calls that are
 * under way finish on the old one. A host has a connection of its own, so that what it does to its
 * connection never meets the calls of others.
 */
export class TemporalSession {
  readonly #temporal: RelayedTemporal
  /** All connections that are not closed yet. The last one takes new calls. */
  readonly #open: ClientHttp2Session[] = []

  constructor(temporal: RelayedTemporal) {
    this.#temporal = temporal
  }

  /** Begins a call. If Temporal can not be reached, the stream fails. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const last = this.#open.at(-1)
    const session = last === undefined || last.closed || last.destroyed ? this.#connect() : last
    const { address, tls } = this.#temporal
    const scheme = tls === undefined ? 'http' : 'https'
    return session.request({ ':scheme': scheme, ':authority': address, ...headers })
  }

  /** Ends the connections and all calls on them. */
  close(): void {
    for (const session of this.#open) session.destroy()
  }

  #connect(): ClientHttp2Session {
    const settings = { enablePush: false, initialWindowSize: streamWindowBytes }
    const { address, tls } = this.#temporal
    const session =
      tls === undefined
        ? connect(`http://${address}`, { settings })
        : connect(`https://${address}`, { settings, ...secured(tls) })
    this.#open.push(session)
    const late = setTimeout(() => session.destroy(), connectLimitMs)
    let answered = true
    const pulse = setInterval(() => {
      if (!answered) return session.destroy()
      answered = false
      if (!session.connecting && !session.destroyed) session.ping(() => (answered = true))
    }, pingEveryMs)
    session.on('connect', () => session.setLocalWindowSize(sessionWindowBytes))
    // A machine takes connections for a process that hangs. Only the process itself sends its settings.
    session.on('remoteSettings', () => clearTimeout(late))
    // The calls on the connection fail with it, and they tell the host.
    session.on('error', () => undefined)
    session.on('close', () => {
      clearTimeout(late)
      clearInterval(pulse)
      this.#open.splice(this.#open.indexOf(session), 1)
    })
    return session
  }
}

function secured({ authority, serverName, client }: NonNullable<RelayedTemporal['tls']>) {
  return {
    ...(authority !== undefined && { ca: authority }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(client && { cert: client.certificate, key: client.key }),
  }
}
