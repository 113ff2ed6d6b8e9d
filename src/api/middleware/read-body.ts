import type { IncomingMessage } from 'node:http'
import { requestError } from '../../contract/errors.ts'
import { maxBodyBytes } from '../../contract/limits.ts'
import type { ApiMiddleware } from '../request-state.ts'

const jsonType = /^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i
/** The type that `curl -d` sends by default. JSON that people paste into a command comes with this type. */
const curlType = /^application\/x-www-form-urlencoded *(?:;|$)/i

/**
 * Reads and decodes the body of any method. Clients announce JSON even if they send nothing, and GET and
 * DELETE may have a body, so only the bytes decide whether there is one.
 */
export function readBody(): ApiMiddleware {
  return async (ctx, next) => {
    const bytes = await collect(ctx.req, Number(ctx.get('Content-Length') || 0))
    if (bytes.length > 0) {
      requireJson(ctx.get('Content-Type'), ctx.get('Content-Encoding'))
      ctx.state.body = decode(bytes)
    }
    await next()
  }
}

async function collect(request: IncomingMessage, announcedBytes: number): Promise<Buffer> {
  if (announcedBytes > maxBodyBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * The failure for a body that is too large. The rest of the body is not read, so the connection can not be
 * used again.
 */
function tooLarge() {
  return requestError('bodyTooLarge', { limit: maxBodyBytes }, { Connection: 'close' })
}

function requireJson(type: string, encoding: string): void {
  if (type !== '' && !jsonType.test(type) && !curlType.test(type)) throw requestError('mediaType', { type })
  if (encoding !== '' && encoding !== 'identity') throw requestError('mediaType', { type: encoding })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw requestError('malformedBody', { reason: 'it is not UTF-8' })
  }
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw requestError('malformedBody', {
      reason: error instanceof SyntaxError ? withoutContent(error.message) : 'unreadable',
    })
  }
}

/** Removes the part of the request that V8 quotes around a mistake: it may hold a private key. */
function withoutContent(message: string): string {
  return message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, '')
}
