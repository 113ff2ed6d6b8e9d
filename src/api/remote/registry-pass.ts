import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Agent, request } from 'undici'
import { Counts } from '../../primitives/counts.ts'

const connectTimeoutMs = 5_000
const answerTimeoutMs = 60_000
const maxConnections = 1_024
/** Pulls of one host that are under way at once. An agent has some ten. */
const maxPullsPerHost = 64
/** What a pull needs of a request. */
const passedHeaders = ['accept', 'authorization', 'range'] as const
/** Fields of an answer that are about the connection to the registry, and not about what it answered. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
])

export interface RegistryPass {
  (hostId: string, incoming: IncomingMessage, outgoing: ServerResponse): void
  close(): Promise<void>
}

/**
 * Passes the pulls of hosts on to the registry. The host has asked the API for a token, and the registry
 * looks at it, so nothing is checked here.
 */
export function createRegistryPass(registryUrl: string): RegistryPass {
  const dispatcher = new Agent({
    connections: maxConnections,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
  })
  // The target is put behind the address, not read as one that may lead elsewhere.
  const base = registryUrl.replace(/\/$/, '')
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    const headers = Object.fromEntries(
      passedHeaders.flatMap((name) => {
        const value = incoming.headers[name]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const answer = await request(`${base}${incoming.url ?? ''}`, {
      dispatcher,
      method: 'GET',
      headers,
      signal: gone.signal,
    })
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !connectionHeaders.has(name)) outgoing.setHeader(name, value)
    outgoing.writeHead(answer.statusCode)
    await pipeline(answer.body, outgoing)
  }
  const pulls = new Counts()
  const handle = (hostId: string, incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (pulls.of(hostId) >= maxPullsPerHost) {
      outgoing.writeHead(503, { 'retry-after': '1' }).end()
      return
    }
    pulls.add(hostId)
    // A host that does not read what it asked for is cut off.
    outgoing.setTimeout(answerTimeoutMs, () => outgoing.destroy())
    pass(incoming, outgoing)
      .catch(() => {
        if (outgoing.headersSent) outgoing.destroy()
        else outgoing.writeHead(503).end()
      })
      .finally(() => pulls.remove(hostId))
  }
  return Object.assign(handle, { close: async () => await dispatcher.close() })
}
