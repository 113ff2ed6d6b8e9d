/**
 * Counts the requests and connections that wait for an instance, over all services. A user may have at most
 * as many waiting as there are free places left. So a user alone gets half of all places, a second user
 * beside that one a quarter, and so on. A user who comes now thus finds room, whatever the others have
 * waiting.
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
