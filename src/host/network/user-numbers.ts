/**
 * Numbers for users, as packet filters can compare them. Two users never have the same, and a number is not
 * given out again while this agent lives: there are four billion of them.
 */
export class UserNumbers {
  readonly #users = new Map<string, { readonly number: number; holders: number }>()
  #last = 0

  /** As often as `hold` is called, `release` must be. */
  hold(userUuid: string): number {
    const found = this.#users.get(userUuid)
    if (found !== undefined) {
      found.holders += 1
      return found.number
    }
    this.#last += 1
    this.#users.set(userUuid, { number: this.#last, holders: 1 })
    return this.#last
  }

  release(userUuid: string): void {
    const found = this.#users.get(userUuid)
    if (found === undefined) return
    found.holders -= 1
    if (found.holders === 0) this.#users.delete(userUuid)
  }
}
