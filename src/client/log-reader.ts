import { one } from './answers.ts'
import type { ApiClient } from './client.ts'
import { pause } from './pause.ts'

/** How long a reader that follows a log waits before it asks for more. */
const followPauseMs = 500
/** The most bytes per answer, which is the most that the API gives. */
const pageBytes = 65_536

export interface LogToRead {
  /** The name or UUID of the instance. */
  readonly object: string
  /** The first byte; negative from the end. */
  readonly offset: number
  /** Goes on with what the instance prints, until it is stopped and no restart follows. */
  readonly follow: boolean
  readonly signal: AbortSignal
}

/**
 * The bytes of an instance's log in their order. Bytes that are not kept any more are left out. It ends when
 * the signal says so.
 */
export async function* readLog(client: ApiClient, log: LogToRead): AsyncGenerator<Uint8Array> {
  const { object, follow, signal } = log
  let { offset } = log
  while (!signal.aborted) {
    // The state is read before the log, so that the log of a stopped instance is complete.
    const isOver = !follow || (await isAtRest(client, log))
    let read = await page(client, { object, offset, signal })
    // What is there by now is read to its end, however much the instance prints meanwhile.
    const { available } = read
    while (read.bytes.length > 0) {
      yield read.bytes
      offset = read.end
      if (signal.aborted || read.end >= available) break
      read = await page(client, { object, offset, signal })
    }
    if (offset < 0) offset = read.end
    if (isOver) return
    await pause(followPauseMs, signal)
  }
}

async function page(
  client: ApiClient,
  {
    object,
    offset,
    signal,
  }: { readonly object: string; readonly offset: number; readonly signal: AbortSignal },
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
  const bytes = Uint8Array.from(atob(output), (character) => character.codePointAt(0) ?? 0)
  return { bytes, end: range.end, available: available.end }
}

async function isAtRest(client: ApiClient, { object, signal }: LogToRead): Promise<boolean> {
  const answer = await client.GET('/v1/instances/{object}', { params: { path: { object } }, signal })
  const { state, restart } = one(answer)
  return state === 'stopped' && restart?.next_at === undefined
}
