import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Thrown when the reader of an answer has disconnected, or does not receive what is written. */
export class ReaderLost extends Error {
  override readonly name = 'ReaderLost'
}

/**
 * Writes a piece of an answer that goes on. Resolves when the reader can take more. Throws `ReaderLost` if
 * that takes longer than `slowMs`, or if `ended` aborts meanwhile.
 */
export async function writeToReader(
  response: ServerResponse,
  text: string,
  { slowMs, ended }: { readonly slowMs: number; readonly ended?: AbortSignal },
): Promise<void> {
  if (response.destroyed) throw new ReaderLost('the reader is gone')
  if (response.write(text)) return
  const limit = AbortSignal.timeout(slowMs)
  const signal = ended === undefined ? limit : AbortSignal.any([ended, limit])
  await once(response, 'drain', { signal }).catch((cause: unknown) => {
    throw new ReaderLost('the reader does not take what is written', { cause })
  })
}
