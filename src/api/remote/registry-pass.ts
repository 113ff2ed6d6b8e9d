import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Agent, request } from 'undici'

const connectTimeoutMs = 5_000
const answerTimeoutMs = 60_000
const maxConnections = 128
/** What a pull needs of a request. */
const passedHeaders = ['accept', 'authorization', 'range'] as const

export interface RegistryPass {
  (incoming: IncomingMessage, outgoing: ServerResponse): void
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
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    const headers = Object.fromEntries(
      passedHeaders.flatMap((name) => {
        const value = incoming.headers[name]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const answer = await request(new URL((incoming.url ?? '/').replace(/^\//, ''), withSlash(registryUrl)), {
      dispatcher,
      method: 'GET',
      headers,
      signal: gone.signal,
    })
    outgoing.writeHead(answer.statusCode, answer.headers as NodeJS.Dict<string | string[]>)
    await pipeline(answer.body, outgoing)
  }
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    pass(incoming, outgoing).catch(() => {
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(503).end()
    })
  }
  return Object.assign(handle, { close: async () => await dispatcher.close() })
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`
}
