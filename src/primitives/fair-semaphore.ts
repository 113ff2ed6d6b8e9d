export interface FairLimits {
  /** The most pieces of work at once, of all users together. */
  readonly size: number
  /**
   * The most pieces of work at once of one user. It is below `size`, so that a user with this many leaves
   * some to others.
   */
  readonly perUser: number
  /**
   * How long a piece of work counts for the limits. A longer piece goes on but does not count any more,
   * because it waits for something that others need not wait for. If it is absent, a piece counts until its
   * end.
   */
  readonly countsForMs?: number
}

interface Waiter {
  readonly begin: () => void
}

/**
 * Lets a bounded number of pieces of work run at once and shares them fairly. If some wait, the users take
 * turns, and the work of one user keeps its order. So the wait of a user's only piece does not grow with
 * what another user asked for before. Work that need not wait begins within the call.
 */
export class FairSemaphore {
  readonly #limits: FairLimits
  readonly #onWaited: (waitedMs: number) => void
  #counted = 0
  /**
   * How many pieces of each user count now. Users with none are not in this map. The same holds for
   * `#waiting`.
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
   * An aborted `signal` ends the wait with the signal's reason. The caller has to end work that has begun.
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
