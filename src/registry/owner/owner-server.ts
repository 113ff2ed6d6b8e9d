import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { PushHandlers } from './push-handlers.ts'
import type { PushHandlersDeps } from './push-handlers.ts'
import { RegistryRefusal } from './registry-refusal.ts'
import { parseRegistryRequest } from './registry-request.ts'

export interface OwnerServerDeps extends PushHandlersDeps {
  /** Told of what no client can be blamed for. */
  readonly onError: (error: unknown) => void
}

const headersTimeoutMs = 10_000
/** Between two pieces of a body. The registry may need minutes to read a large blob again before it answers. */
const idleTimeoutMs = 300_000
const maxConnections = 2_048
/** A client that was refused in the middle of its body gets this long to notice. What it sends meanwhile is thrown away. */
const lingerMs = 5_000

/**
 * The registry as users reach it. Reads go through as they are. Writes go through with a token of the platform, after the user's own
 * token was found to permit them and what they bring was found to fit. The caller lets it listen, and closes it.
 */
export function createOwnerServer(deps: OwnerServerDeps): Server {
  const handlers = new PushHandlers(deps)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = parseRegistryRequest(request.method ?? '', request.url ?? '/')
    try {
      const answered = await handlers.handle(call, request)
      response.writeHead(answered.status, answered.headers)
      if ('text' in answered) response.end(answered.text)
      else await pipeline(answered.body, response)
    } catch (error) {
      // Who has gone, or has got half of an answer, can not be told anything.
      if (response.headersSent || response.destroyed) {
        response.destroy()
        return
      }
      refuse(response, error)
    }
    if (!request.complete) linger(request)
  }

  function refuse(response: ServerResponse, error: unknown): void {
    if (!(error instanceof RegistryRefusal)) deps.onError(error)
    const refusal =
      error instanceof RegistryRefusal
        ? error
        : new RegistryRefusal('UNAVAILABLE', 'this can not be done at the moment; try again')
    response.writeHead(refusal.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(refusal.body),
    })
    response.end(refusal.body)
  }

  const server = createServer((request, response) => {
    request.on('error', () => undefined)
    answer(request, response).catch(deps.onError)
  })
  // A push of one layer may take hours; what counts is that it goes on.
  server.requestTimeout = 0
  server.headersTimeout = headersTimeoutMs
  server.timeout = idleTimeoutMs
  server.maxConnections = maxConnections
  return server
}

/** A connection that is closed while its client still writes would take the answer away from it. */
function linger(request: IncomingMessage): void {
  request.resume()
  const timer = setTimeout(() => request.socket.destroy(), lingerMs)
  request.once('close', () => clearTimeout(timer))
}
