import { readFileSync } from 'node:fs'
import path from 'node:path'
import { request } from 'undici'
import type { Stack } from '../../test/support/stack.ts'

/** A reader of the feed of routes that counts what a gateway gets. */
export interface FeedBytes {
  /** The bytes so far, with beats. */
  readonly bytes: number
  stop(): Promise<void>
}

export async function followFeedBytes(stack: Stack): Promise<FeedBytes> {
  const stopping = new AbortController()
  const body = await openFeed(stack, stopping.signal)
  let bytes = 0
  const reading = (async () => {
    for await (const piece of body) bytes += (piece as Buffer).length
  })().catch(() => undefined)
  return {
    get bytes() {
      return bytes
    },
    async stop() {
      stopping.abort()
      await reading
    },
  }
}

/** Reads the feed as a gateway without routes does, up to the end of the first block. */
export async function readFeedOnce(
  stack: Stack,
): Promise<{ readonly bytes: number; readonly tookMs: number }> {
  const stopping = new AbortController()
  const startedMs = performance.now()
  let bytes = 0
  let tail = ''
  try {
    for await (const piece of await openFeed(stack, stopping.signal)) {
      bytes += (piece as Buffer).length
      tail = (tail + String(piece)).slice(-tailCharacters)
      if (tail.includes('{"kind":"end"')) return { bytes, tookMs: performance.now() - startedMs }
    }
    throw new Error('the feed ended before its first block did')
  } finally {
    stopping.abort()
  }
}

/** Enough for the last line of a block, which pieces may divide anywhere. */
const tailCharacters = 200

async function openFeed(stack: Stack, signal: AbortSignal) {
  const token = readFileSync(path.join(stack.dataDir, 'keys', 'gateway-token'), 'utf8').trim()
  const { statusCode, body } = await request(`${stack.apiUrl}/internal/gateway/routes`, {
    headers: { authorization: `Bearer ${token}` },
    headersTimeout: 0,
    bodyTimeout: 0,
    signal,
  })
  if (statusCode !== 200) throw new Error(`the feed was answered with ${statusCode}`)
  return body
}
