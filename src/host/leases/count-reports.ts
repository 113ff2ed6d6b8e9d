import type { HostMessage } from '../../domain/standby/lease-protocol.ts'
import { machineClockMs } from '../agent/machine-clock.ts'

/**
 * How long to wait for the gateways' answers. A gateway answers from memory. A gateway that is too busy for
 * that, or too old to know the question, is not waited for.
 */
const waitMs = 80
/**
 * Readers within this time share one round of questions, however many they are. Their counts are at most
 * this old.
 */
const sharedMs = 50

interface Reporter {
  send(message: Extract<HostMessage, { kind: 'report' }>): void
}

interface Round {
  readonly number: number
  readonly startedMs: number
  /** The gateways that have not answered yet. */
  readonly waiting: Set<Reporter>
  readonly over: Promise<void>
  readonly end: () => void
}

/**
 * Asks the gateways for their counts when somebody reads them. Without a question a gateway reports only
 * every second, but a client may read the counts at once after it had an answer from an instance.
 */
export class CountReports {
  readonly #clockMs: () => number
  #last: Round | undefined

  constructor(clockMs: () => number = machineClockMs) {
    this.#clockMs = clockMs
  }

  /** Resolves when all these gateways have reported their counts, at the latest after `waitMs`. */
  async ask(lines: Iterable<Reporter>): Promise<void> {
    const nowMs = this.#clockMs()
    if (this.#last === undefined || nowMs - this.#last.startedMs > sharedMs) {
      const round = newRound((this.#last?.number ?? 0) + 1, nowMs, new Set(lines))
      this.#last = round
      for (const line of round.waiting) line.send({ kind: 'report', number: round.number })
    }
    await this.#last.over
  }

  answered(line: Reporter, number: number): void {
    if (this.#last?.number === number) this.lost(line)
  }

  lost(line: Reporter): void {
    const round = this.#last
    if (round?.waiting.delete(line) === true && round.waiting.size === 0) round.end()
  }
}

function newRound(number: number, startedMs: number, waiting: Set<Reporter>): Round {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  const end = (): void => {
    clearTimeout(timer)
    resolve()
  }
  if (waiting.size === 0) end()
  return { number, startedMs, waiting, over, end }
}
