import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { Agent, WebSocket as PublicWebSocket, buildConnector, request } from 'undici'
import type { Stack } from './stack.ts'

/** Calls a stack's published services like the public: by name, over TLS. It trusts one authority only. */
export interface PublicNames {
  /** The root of that authority. Default: the stack's own for its metro domain. */
  readonly caFile: string
  get(url: string, options?: GetOptions): Promise<PublicAnswer>
  /** Opens a connection of raw TLS to a port of a name. `protocols` are offered by ALPN. */
  connect(host: string, port: number, protocols?: readonly string[]): Promise<TLSSocket>
  /** Opens a WebSocket. Resolves when it is open. */
  websocket(url: string): Promise<WebSocket>
  /** Whether `close` was called. Who sends requests for ever then ends: a failed test may have left it so. */
  readonly isClosed: boolean
  close(): Promise<void>
}

export interface GetOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** If set, the request is a POST with this body. */
  readonly body?: string
  /** The time limit. Default 60 s: many cold starts at once take a while under emulation. */
  readonly limitMs?: number
}

export interface PublicAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

const defaultLimitMs = 60_000
const loopback = '127.0.0.1'

const metroDomain = 'roost.localhost'
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

export interface PublicNamesOptions {
  /** The port offset of the stack, if it has one. Names and URLs do not include it. */
  readonly portOffset?: number
  /** The address on which the gateway listens. Default: the loopback. */
  readonly address?: string
  readonly caFile?: string
}

export function openPublicNames(stack: Stack, options: PublicNamesOptions = {}): PublicNames {
  const { portOffset = 0, address = loopback } = options
  let isClosed = false
  const caFile = options.caFile ?? metroAuthorityFile(stack)
  const ca = readFileSync(caFile, 'utf8')
  const dispatcher = new Agent({
    connect: connectorTo({ addresses: [address], ca, portOffset }),
    headersTimeout: defaultLimitMs,
    connections: 256,
  })
  return {
    caFile,
    async get(url, wishes = {}) {
      const answer = await request(url, {
        dispatcher,
        headers: { ...wishes.headers },
        ...(wishes.body !== undefined && { method: 'POST', body: wishes.body }),
        signal: AbortSignal.timeout(wishes.limitMs ?? defaultLimitMs),
      })
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
    },
    async connect(host, port, protocols = []) {
      const socket = connectTls({
        host: address,
        port: port + portOffset,
        servername: host,
        ca,
        ...(protocols.length > 0 && { ALPNProtocols: [...protocols] }),
      })
      await new Promise<void>((resolve, reject) => {
        socket.once('secureConnect', resolve)
        socket.once('error', reject)
      })
      return socket
    },
    async websocket(url) {
      const socket = new PublicWebSocket(url, { dispatcher })
      await new Promise<void>((resolve, reject) => {
        socket.addEventListener('open', () => resolve())
        socket.addEventListener('error', () => reject(new Error(`${url} can not be opened`)))
      })
      return socket
    },
    get isClosed() {
      return isClosed
    },
    async close() {
      isClosed = true
      await dispatcher.close()
    },
  }
}

/** The root of the stack's own authority for its metro domain. */
export function metroAuthorityFile({ dataDir }: Pick<Stack, 'dataDir'>): string {
  return path.join(dataDir, 'gateway', 'metro', metroDomain, 'authority.crt')
}

/**
 * Connects to the first of the addresses at which the connection is made, with its handshake of TLS. All
 * public names of a test lead to them: the machine's resolver is not asked. `onRefused` hears of each address
 * at which it was not made.
 */
export function connectorTo(to: {
  readonly addresses: readonly string[]
  readonly ca: string
  readonly portOffset?: number
  /** Whether HTTP/2 may be chosen. Default: yes. */
  readonly allowH2?: boolean
  readonly onRefused?: (address: string) => void
}): buildConnector.connector {
  const { ca, portOffset = 0, allowH2 = true, onRefused } = to
  const places = to.addresses.map((address) => ({
    address,
    connector: buildConnector({
      ca,
      allowH2,
      lookup: (_host, wanted, done) => {
        if (wanted.all === true) done(null, [{ address, family: 4 }])
        else done(null, address, 4)
      },
    }),
  }))
  return (wanted, done) => {
    const port = String(Number(wanted.port || defaultPorts[wanted.protocol]) + portOffset)
    const tryFrom = (index: number): void => {
      const { address, connector } = places[index]!
      connector({ ...wanted, port }, (...[error, socket]) => {
        if (error === null) return done(null, socket)
        onRefused?.(address)
        if (index + 1 < places.length) tryFrom(index + 1)
        else done(error, null)
      })
    }
    tryFrom(0)
  }
}
