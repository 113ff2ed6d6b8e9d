import { signal } from '@preact/signals'
import { followLog } from '../../src/client/log-stream.ts'
import type { LogMessage } from '../../src/client/log-stream.ts'
import { access, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { LogLines } from './log-lines.ts'
import type { LogLine } from './log-lines.ts'

/** How much of the log's end the page begins with. */
const beginBytes = 65_536

/** Follows the log of an instance from near its end. */
export class LogFollower {
  readonly #uuid: string
  readonly #text = new LogLines()
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
    const onOpen = (): void => {
      this.problem.value = undefined
    }
    const log = { object: this.#uuid, offset: -beginBytes, signal: ended, onOpen }
    try {
      for await (const message of followLog(access, log)) this.#take(message)
    } catch (error) {
      if (!ended.aborted && !isSessionEnd(error)) this.problem.value = sentenceOf(error)
    }
  }

  #take(message: LogMessage): void {
    if (message.kind === 'lost') this.problem.value = sentenceOf(message.failure)
    if (message.kind === 'gap') this.isCut.value = true
    if (message.kind !== 'log') return
    if (!this.isRead.value) this.isCut.value = message.range.start > 0
    this.isRead.value = true
    if (message.bytes.length === 0) return
    this.#text.add(message.bytes)
    this.lines.value = this.#text.all()
  }
}
