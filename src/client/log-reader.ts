import { one } from './answers.ts'
import type { ApiClient } from './client.ts'
import { bytesOf } from './log-bytes.ts'

/** The most bytes per answer, which is the most that the API gives. */
const pageBytes = 65_536

export interface LogToRead {
  /** The name or UUID of the instance. */
  readonly object: string
  /** The first byte; negative from the end. */
  readonly offset: number
  readonly signal: AbortSignal
}

/**
 * The bytes of an instance's log in their order, up to what there is at the beginning, however much the
 * instance prints meanwhile. Bytes that are not kept any more are left out.
 */
export async function* readLog(client: ApiClient, log: LogToRead): AsyncGenerator<Uint8Array> {
  let read = await page(client, log)
  const { available } = read
  while (read.bytes.length > 0) {
    yield read.bytes
    if (log.signal.aborted || read.end >= available) return
    read = await page(client, { ...log, offset: read.end })
  }
}

async function page(
  client: ApiClient,
  { object, offset, signal }: LogToRead,
): Promise<{ readonly bytes: Uint8Array; readonly end: number; readonly available: number }> {
  const { output, range, available } = one(
    await client.GET('/v1/instances/{object}/log', {
      params: { path: { object }, query: { offset, limit: pageBytes } },
      signal,
    }),
  )
  // What is older than the first byte that is kept is gone.
  if (output === '' && offset >= 0 && offset < available.start) {
    return page(client, { object, offset: available.start, signal })
  }
  return { bytes: bytesOf(output), end: range.end, available: available.end }
}
