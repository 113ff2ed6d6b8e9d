import { Agent } from 'undici'
import type { Dispatcher } from 'undici'
import { IssueError } from './issuer.ts'

/**
 * Exchanges requests and answers with an authority. Each exchange is bounded in size and time. The caller
 * judges the status.
 */
export interface AcmeHttp {
  /** The name of the authority's host, for messages. */
  readonly authority: string
  readonly directoryUrl: string
  send(call: AcmeCall): Promise<AcmeAnswer>
  close(): Promise<void>
}

export interface AcmeCall {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  /** The body of a signed request. */
  readonly body?: string
  readonly accept?: string
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

export interface AcmeAnswer {
  readonly url: string
  readonly status: number
  readonly body: Buffer
  readonly nonce: string | undefined
  readonly location: string | undefined
  readonly retryAfter: string | undefined
}

export interface AcmeHttpOptions {
  readonly directoryUrl: string
  /** The root certificates (PEM) that verify the authority's own TLS, in place of those that Node brings. */
  readonly ca?: string
  readonly exchangeTimeoutMs?: number
}

/**
 * The longest time for one exchange. Some authorities check the names before they answer an order: Let's
 * Encrypt needed several seconds on bad days.
 */
const defaultExchangeTimeoutMs = 30_000
const connectTimeoutMs = 10_000
/** The largest answer to a call without `maxBytes`. An order with a hundred names has some 10 KiB. */
export const maxDocumentBytes = 65_536
/** The most connections to one authority at the same time. */
const connections = 4
const userAgent = 'roost/0.1 (RFC 8555)'

export function createAcmeHttp(options: AcmeHttpOptions): AcmeHttp {
  const { directoryUrl, ca, exchangeTimeoutMs = defaultExchangeTimeoutMs } = options
  const agent = new Agent({
    connections,
    headersTimeout: exchangeTimeoutMs,
    bodyTimeout: exchangeTimeoutMs,
    allowH2: false,
    connect: { timeout: connectTimeoutMs, ...(ca !== undefined && { ca }) },
  })
  const authority = new URL(directoryUrl).host
  return {
    authority,
    directoryUrl,
    async send(call) {
      const timeout = AbortSignal.timeout(exchangeTimeoutMs)
      const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout
      try {
        return await exchange(agent, call, signal)
      } catch (cause) {
        if (call.signal?.aborted) throw call.signal.reason
        if (cause instanceof IssueError) throw cause
        const reason = timeout.aborted ? `no answer within ${exchangeTimeoutMs / 1_000} s` : reasonOf(cause)
        throw new IssueError('later', `${authority} can not be reached: ${reason}`, { cause })
      }
    },
    close: () => agent.destroy(),
  }
}

async function exchange(agent: Agent, call: AcmeCall, signal: AbortSignal): Promise<AcmeAnswer> {
  const { url, method, body, accept = 'application/json' } = call
  const { origin, pathname, search } = new URL(url)
  const response = await agent.request({
    origin,
    path: pathname + search,
    method,
    signal,
    headers: {
      accept,
      'accept-language': 'en',
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': 'application/jose+json' }),
    },
    ...(body !== undefined && { body }),
  })
  return {
    url,
    status: response.statusCode,
    body: await readBody(response, call.maxBytes ?? maxDocumentBytes, origin),
    nonce: headerOf(response, 'replay-nonce'),
    location: headerOf(response, 'location'),
    retryAfter: headerOf(response, 'retry-after'),
  }
}

async function readBody(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  origin: string,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const body: AsyncIterable<Buffer> = response.body
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop ends the connection.
    if (size > maxBytes)
      throw new IssueError(
        'later',
        `${origin} answered with more than ${maxBytes} bytes, which no authority does`,
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * The reason of a failure in a word. It does not contain the address, because users read it. Node reports a
 * failure at several addresses as an AggregateError without a message.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join(', ')
  const { code, message } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : message
}
