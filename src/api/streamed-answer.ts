import type { ServerResponse } from 'node:http'
import { requestError } from '../contract/errors.ts'
import { maxStreams } from '../contract/limits.ts'
import type { Call } from './call.ts'
import type { ApiDeps } from './deps.ts'
import type { StreamPlaces } from './stream-places.ts'
import { ReaderLost } from './response-reader.ts'
import { StreamWriter, streamTimes } from './stream-writer.ts'

/** The seconds after which a client that found no place should try again. */
const retryAfterSeconds = 5

/** Writes the events of a stream. `ended` aborts when nobody reads them any more or may go on. */
export type Follow = (writer: StreamWriter, ended: AbortSignal) => Promise<void>

/**
 * Answers with a stream of server-sent events, in one of the places that all streams share. It ends when
 * `follow` does, when the client goes away or is too slow, when the place is taken, and when the process
 * stops.
 */
export function streamedAnswer(
  { deps, call, places }: { readonly deps: ApiDeps; readonly call: Call; readonly places: StreamPlaces },
  follow: Follow,
) {
  return {
    async stream(response: ServerResponse): Promise<void> {
      const place = places.take(call.identity.userUuid)
      if (place === undefined) {
        const told = { limit: maxStreams, seconds: retryAfterSeconds }
        throw requestError('tooManyStreams', told, { 'Retry-After': String(retryAfterSeconds) })
      }
      const closed = new AbortController()
      response.once('close', () => closed.abort())
      const ended = AbortSignal.any([deps.stopping, place.signal, closed.signal])
      const writer = new StreamWriter(response, deps.settings.streamTimes ?? streamTimes)
      try {
        await writer.open()
        await follow(writer, ended)
        writer.end()
      } catch (error) {
        if (!(error instanceof ReaderLost)) call.log.warn({ err: error }, 'a stream broke off')
        response.destroy()
      } finally {
        place.leave()
      }
    },
  }
}
