import { Counts } from '../../primitives/counts.ts'

/**
 * Counts the requests and connections that wait for an instance, over all services. A user may have at most
 * as many waiting as there are free places left. So a user alone gets half of all places, a second user
 * beside that one a quarter, and so on. A user who comes now thus finds room, whatever the others have
 * waiting.
 */
export class QueueShares {
  readonly #max: number
  readonly #waiting = new Counts()

  constructor(max: number) {
    this.#max = max
  }

  get all(): number {
    return this.#waiting.all
  }

  /** Whether one more request of the user may wait. If so, it is counted. */
  take(user: string): boolean {
    if (this.#waiting.of(user) >= this.#max - this.all) return false
    this.#waiting.add(user)
    return true
  }

  leave(user: string): void {
    this.#waiting.remove(user)
  }
}
