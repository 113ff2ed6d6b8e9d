import { Agent, request } from 'undici'
import type { buildConnector, Dispatcher } from 'undici'
import { RegistryError, RegistryFailure } from './registry-error.ts'

/**
 * Returns a token for one repository (or `registryCatalog`): a new token each time, or one that is still
 * valid.
 */
export type RegistryTokenSource = (repository: string) => Promise<string>

export interface RegistryHttp {
  /**
   * Sends one request. Resolves for every answer below 500 except 401, 403 and 429; the caller must consume
   * the body.
   */
  send(call: RegistryCall): Promise<Dispatcher.ResponseData>
  close(): Promise<void>
}

export interface RegistryCall {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH'
  /**
   * A path below the registry's base address, with a leading slash; or an absolute address that the registry
   * gave.
   */
  readonly path: string
  /** The repository whose token is sent. */
  readonly repository: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Dispatcher.DispatchOptions['body']
  readonly signal?: AbortSignal | undefined
}

const connectTimeoutMs = 5_000
/**
 * The longest wait for the first byte of an answer. A registry hashes what was uploaded before it answers.
 */
const headersTimeoutMs = 60_000
/** The longest pause between two pieces of a body. */
const bodyTimeoutMs = 30_000
const maxConnections = 16
/** How long an unused connection is kept, so that a create after a pause need not connect first. */
const keepAliveMs = 300_000
/**
 * The most redirects of one request. A registry may keep its blobs elsewhere and redirect the client there.
 */
const maxRedirects = 2

export function createRegistryHttp(options: {
  readonly url: string
  readonly token: RegistryTokenSource
  /**
   * How connections are made, and the name that is asked for. Absent: the registry's own address is asked.
   */
  readonly through?: { readonly connect: buildConnector.connector; readonly host: string }
}): RegistryHttp {
  const base = new URL(options.url.endsWith('/') ? options.url : `${options.url}/`)
  const dispatcher = new Agent({
    connections: maxConnections,
    connect: options.through?.connect ?? { timeout: connectTimeoutMs },
    headersTimeout: headersTimeoutMs,
    bodyTimeout: bodyTimeoutMs,
    keepAliveTimeout: keepAliveMs,
  })

  async function tokenFor(repository: string): Promise<string> {
    try {
      return await options.token(repository)
    } catch (error) {
      if (error instanceof RegistryError) throw error
      const message = `there is no token for '${repository}' at the moment`
      throw new RegistryError(RegistryFailure.Unavailable, message, { cause: error })
    }
  }

  async function sendTo(url: URL, call: RegistryCall): Promise<Dispatcher.ResponseData> {
    // Blobs may be kept at another origin. The address itself permits reading them, and the token is not
    // meant for that origin.
    const authorization =
      url.origin === base.origin
        ? {
            authorization: `Bearer ${await tokenFor(call.repository)}`,
            ...(options.through && { host: options.through.host }),
          }
        : {}
    try {
      return await request(url, {
        dispatcher,
        method: call.method,
        headers: { ...call.headers, ...authorization },
        ...(call.body === undefined ? {} : { body: call.body }),
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      })
    } catch (error) {
      call.signal?.throwIfAborted()
      throw new RegistryError(RegistryFailure.Unavailable, `the registry at ${url.origin} does not answer`, {
        cause: error,
      })
    }
  }

  return {
    async send(call) {
      let url = new URL(call.path.replace(/^\//, ''), base)
      for (let redirects = 0; ; redirects++) {
        const response = await sendTo(url, call)
        const location = response.headers.location
        const redirected = response.statusCode >= 300 && response.statusCode < 400
        if (!redirected) return await refuseFailures(response, call)
        await discard(response)
        if (typeof location !== 'string' || redirects >= maxRedirects) {
          throw new RegistryError(RegistryFailure.Unavailable, 'the registry redirects without end')
        }
        url = new URL(location, url)
      }
    },
    close: () => dispatcher.close(),
  }
}

async function refuseFailures(
  response: Dispatcher.ResponseData,
  call: RegistryCall,
): Promise<Dispatcher.ResponseData> {
  const status = response.statusCode
  if (status === 401 || status === 403) {
    await discard(response)
    throw new RegistryError(RegistryFailure.Denied, `the registry refuses access to '${call.repository}'`)
  }
  if (status >= 500 || status === 429) {
    await discard(response)
    throw new RegistryError(
      RegistryFailure.Unavailable,
      `the registry answered ${status} for '${call.repository}'`,
      { status },
    )
  }
  return response
}

/** The most bytes of an unwanted body that are read so that the connection can be used again. */
const maxDiscardedBytes = 65_536

export async function discard(response: Dispatcher.ResponseData): Promise<void> {
  await response.body.dump({ limit: maxDiscardedBytes })
}

/** Reads a whole body of at most `maxBytes`. */
export async function readBody(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  what: string,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of readChunks(response)) {
    size += chunk.length
    if (size > maxBytes) {
      throw new RegistryError(RegistryFailure.Corrupt, `${what} is larger than ${maxBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/**
 * Returns the body piece by piece. If the connection breaks, it throws the error of an unavailable registry.
 */
export async function* readChunks(response: Dispatcher.ResponseData): AsyncGenerator<Buffer> {
  try {
    const chunks: AsyncIterable<Buffer> = response.body
    for await (const chunk of chunks) yield chunk
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error
    throw new RegistryError(RegistryFailure.Unavailable, 'the registry broke off its answer', {
      cause: error,
    })
  }
}
