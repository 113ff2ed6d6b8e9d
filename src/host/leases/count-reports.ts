import type { HostMessage } from '../../domain/standby/lease-protocol.ts'
import { machineClockMs } from '../agent/machine-clock.ts'

/** A gateway answers from memory; one that is busier, or too old to answer at all, is not waited for. */
const waitMs = 80
/**
 * Readers within this time share one round, however often somebody reads: what they get is no older than
 * that.
 */
const sharedMs = 50

interface Reporter {
  send(message: Extract<HostMessage, { kind: 'report' }>): void
}

interface Round {
  readonly number: number
  readonly startedMs: number
  /** Those who have not answered yet. */
  readonly waiting: Set<Reporter>
  readonly over: Promise<void>
  readonly end: () => void
}

/**
 * Asks the gateways for their counts when somebody reads them. They report by themselves every second only,
 * and a client that has had an answer may read at once how many there were.
 */
export class CountReports {
  readonly #clockMs: () => number
  #last: Round | undefined

  constructor(clockMs: () => number = machineClockMs) {
    this.#clockMs = clockMs
  }

  /** Resolves when all of these have told their counts, or after `waitMs`. */
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
