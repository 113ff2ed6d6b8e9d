export interface FairLimits {
  /** The most pieces of work at once, of all users together. */
  readonly size: number
  /**
   * The most pieces of work at once of one user. If it is below `size`, a user with this many leaves room
   * for others.
   */
  readonly perUser: number
  /**
   * How long a piece of work counts for the limits. A longer piece goes on but does not count any more, so
   * that it does not keep other work waiting. Absent: a piece counts until its end.
   */
  readonly countsForMs?: number
}

interface Waiter {
  readonly begin: () => void
}

/**
 * Lets a bounded number of pieces of work run at once and shares them fairly. If work waits, the users take
 * turns, and the work of one user begins in the order in which it came. So a user with one piece of work
 * does not wait for all that another user asked for before. Work that need not wait begins within the call.
 */
export class FairSemaphore {
  readonly #limits: FairLimits
  readonly #onWaited: (waitedMs: number) => void
  #counted = 0
  /**
   * How many pieces of each user count now. A user with none is not in this map, and neither in `#waiting`.
   */
  readonly #ofUser = new Map<string, number>()
  /** The work of each user that waits. The user whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiter[]>()

  /**
   * `onWaited` is called for each piece of work that had to wait, with the length of its wait. It is not
   * called for a wait that was aborted.
   */
  constructor(limits: FairLimits, onWaited: (waitedMs: number) => void = () => undefined) {
    this.#limits = limits
    this.#onWaited = onWaited
  }

  /**
   * Runs `work` as soon as the limits permit. If `signal` is aborted while the work waits, throws the
   * signal's reason. `signal` does not end work that has begun; the caller has to do that.
   */
  async run<Result>(userUuid: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.#mayBegin(userUuid)) this.#count(userUuid, 1)
    else await this.#wait(userUuid, signal)
    let counts = true
    const giveBack = (): void => {
      if (!counts) return
      counts = false
      clearTimeout(limit)
      this.#count(userUuid, -1)
      this.#beginNext()
    }
    const { countsForMs } = this.#limits
    const limit = countsForMs === undefined ? undefined : setTimeout(giveBack, countsForMs)
    limit?.unref()
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  #mayBegin(userUuid: string): boolean {
    return this.#counted < this.#limits.size && (this.#ofUser.get(userUuid) ?? 0) < this.#limits.perUser
  }

  #count(userUuid: string, more: 1 | -1): void {
    this.#counted += more
    const count = (this.#ofUser.get(userUuid) ?? 0) + more
    if (count === 0) this.#ofUser.delete(userUuid)
    else this.#ofUser.set(userUuid, count)
  }

  async #wait(userUuid: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const sinceMs = performance.now()
    const mine = this.#waiting.get(userUuid) ?? []
    this.#waiting.set(userUuid, mine)
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = (): void => {
        mine.splice(mine.indexOf(waiter), 1)
        if (mine.length === 0) this.#waiting.delete(userUuid)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      mine.push(waiter)
    })
    this.#onWaited(performance.now() - sinceMs)
  }

  /** A piece of work is counted before it begins, so that no other can take its place. */
  #beginNext(): void {
    for (const [userUuid, waiters] of this.#waiting) {
      if (!this.#mayBegin(userUuid)) continue
      const next = waiters.shift()
      this.#waiting.delete(userUuid)
      if (waiters.length > 0) this.#waiting.set(userUuid, waiters)
      if (next === undefined) continue
      this.#count(userUuid, 1)
      next.begin()
      return
    }
  }
}
