/**
 * Counts what waits for an instance, over all services. A user may have no more waiting than there is room
 * left for others: alone half of all, beside a user who has taken that half a quarter, and so on. So a user
 * who comes now finds room, whatever the others have waiting.
 */
export class QueueShares {
  readonly #max: number
  readonly #ofUser = new Map<string, number>()
  #all = 0

  constructor(max: number) {
    this.#max = max
  }

  get all(): number {
    return this.#all
  }

  /** Whether one more request of the user may wait. If so, it is counted. */
  take(user: string): boolean {
    const own = this.#ofUser.get(user) ?? 0
    if (own >= this.#max - this.#all) return false
    this.#ofUser.set(user, own + 1)
    this.#all += 1
    return true
  }

  leave(user: string): void {
    const left = (this.#ofUser.get(user) ?? 0) - 1
    this.#all -= 1
    if (left > 0) this.#ofUser.set(user, left)
    else this.#ofUser.delete(user)
  }
}
