import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createTemporalRelay } from '../../src/relay/temporal-relay.ts'
import type { TemporalRelayOptions } from '../../src/relay/temporal-relay.ts'

/** A listener of HTTP/2 for one host, with a relay behind it. */
export interface RelayServer {
  readonly address: string
  /** What the relay logged, the newest last. */
  readonly logged: readonly string[]
  /** Ends the connections of the host, as a process that is killed does. */
  cut(): void
  /** Resolves when the relay is closed, and the listener with it. */
  close(): Promise<void>
}

/** With `asRequests`, the listener has a handler of `request`, for which Node does more by itself. */
export async function startRelayServer(
  hostId: string,
  options: Omit<TemporalRelayOptions, 'log'>,
  listen: { readonly port?: number; readonly asRequests?: boolean; readonly keySha256?: string } = {},
): Promise<RelayServer> {
  const logged: string[] = []
  const log = { warn: (_fields: object, message: string) => void logged.push(message) }
  const relay = createTemporalRelay({ ...options, log })
  const host = { hostId, keySha256: listen.keySha256 ?? `the key of ${hostId}` }
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session.on('error', () => undefined).once('close', () => sessions.delete(session)))
  })
  if (listen.asRequests === true) {
    server.on('request', ({ stream, headers }) => relay.handle(host, stream, headers))
  } else {
    server.on('stream', (stream, headers) => relay.handle(host, stream, headers))
  }
  server.listen(listen.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const session of sessions) session.destroy()
  }
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    logged,
    cut,
    async close() {
      await relay.close()
      server.close()
      cut()
    },
  }
}
