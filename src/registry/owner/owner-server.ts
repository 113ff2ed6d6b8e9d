import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { OpenRequests } from './open-requests.ts'
import { PushHandlers } from './push-handlers.ts'
import type { Answer, PushHandlersDeps } from './push-handlers.ts'
import { RegistryRefusal } from './registry-refusal.ts'
import { parseRegistryRequest } from './registry-request.ts'
import { discardRest } from './unread-body.ts'

export interface OwnerServerDeps extends PushHandlersDeps {
  /** Called on errors for which no client can be blamed. */
  readonly onError: (error: unknown) => void
  /** The most connections of clients. If it is absent, a number is used that suits real users. */
  readonly maxConnections?: number | undefined
}

const headersTimeoutMs = 10_000
/**
 * The longest pause between two pieces of a body. The registry may need minutes to read a large blob again
 * before it answers.
 */
const idleTimeoutMs = 300_000
/** How often the server looks for connections whose request has no complete head. */
const headersCheckMs = 5_000
/** The `Retry-After` of the refusal that a user with too many requests under way gets. */
const retryAfterSeconds = '5'

/**
 * The registry as users reach it. Reads go through as they are. Writes go through with a token of the
 * platform, after the user's own token was found to permit them and what they bring was found to fit. The
 * caller makes the server listen, and closes it.
 */
export function createOwnerServer(deps: OwnerServerDeps): Server {
  const handlers = new PushHandlers(deps)
  const open = new OpenRequests(deps.maxConnections)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answered = await answerTo(request, response)
    // If the client has disconnected, or has received half of an answer, no error can be sent to it.
    if (request.destroyed && 'text' in answered) return
    if (!request.complete && !request.destroyed) discardRest(request, response)
    response.writeHead(answered.status, answered.headers)
    if ('text' in answered) response.end(answered.text)
    else await pipeline(answered.body, response).catch(() => response.destroy())
  }

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    try {
      const user = await deps.permissions.userOf(request.headers.authorization)
      if (user !== undefined) open.begin(user, request, response)
      return await handlers.handle(parseRegistryRequest(request.method ?? '', request.url ?? '/'), request)
    } catch (error) {
      if (error instanceof RegistryRefusal) return refusalAnswer(error)
      if (!request.destroyed) deps.onError(error)
      const words = 'this can not be done at the moment; try again'
      return refusalAnswer(new RegistryRefusal('UNAVAILABLE', words))
    }
  }

  const server = createServer({ connectionsCheckingInterval: headersCheckMs }, (request, response) => {
    request.on('error', () => undefined)
    answer(request, response).catch(deps.onError)
  })
  server.on('connection', (socket) => open.connected(socket))
  // A request has no time limit: a push of one layer may take hours. Only a long pause ends it.
  server.requestTimeout = 0
  server.headersTimeout = headersTimeoutMs
  server.timeout = idleTimeoutMs
  return server
}

function refusalAnswer({ code, status, body }: RegistryRefusal): Answer {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(code === 'TOOMANYREQUESTS' ? { 'retry-after': retryAfterSeconds } : {}),
  }
  return { status, headers, text: body }
}
