import { signal } from '@preact/signals'
import { one } from '../../src/client/answers.ts'
import { ApiFailure } from '../../src/client/api-failure.ts'
import { pause } from '../../src/client/pause.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { LogLines } from './log-lines.ts'
import type { LogLine } from './log-lines.ts'

/** The most bytes of one answer, and of the log's end with which the page begins. */
const pageBytes = 65_536
const followMs = 1_000
const awayMs = 3_000
const notFoundStatus = 200

/** Reads the log of an instance from near its end, and then what is added to it. */
export class LogFollower {
  readonly #uuid: string
  readonly #text = new LogLines()
  #offset = -pageBytes
  readonly lines = signal<readonly LogLine[]>([])
  readonly isRead = signal(false)
  /** Whether the log has earlier bytes that the page does not show. */
  readonly isCut = signal(false)
  readonly problem = signal<string | undefined>(undefined)

  constructor(uuid: string) {
    this.#uuid = uuid
  }

  /** Follows the log until the signal aborts. */
  async follow(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      try {
        const isMore = await this.#read(ended)
        this.problem.value = undefined
        if (!isMore) await pause(document.hidden ? awayMs : followMs, ended)
      } catch (error) {
        if (ended.aborted || isSessionEnd(error) || isGone(error)) return
        this.problem.value = sentenceOf(error)
        await pause(awayMs, ended)
      }
    }
  }

  /** Reads one page. Returns whether there is more to read at once. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { output, range, available } = one(
      await api.GET('/v1/instances/{object}/log', {
        params: { path: { object: this.#uuid }, query: { offset: this.#offset, limit: pageBytes } },
        signal,
      }),
    )
    if (!this.isRead.value || range.start > this.#offset) this.isCut.value = range.start > 0
    const bytes = Uint8Array.from(atob(output), (character) => character.charCodeAt(0))
    // What is older than the first byte that is kept is gone.
    const isBehind = this.#offset >= 0 && this.#offset < available.start
    this.#offset = bytes.length === 0 && isBehind ? available.start : range.end
    this.isRead.value = true
    if (bytes.length === 0) return isBehind
    this.#text.add(bytes)
    this.lines.value = this.#text.all()
    return range.end < available.end
  }
}

/** The instance was deleted. The page says so itself. */
function isGone(error: unknown): boolean {
  return error instanceof ApiFailure && error.facts.httpStatus === notFoundStatus && error.facts.code === 8
}
