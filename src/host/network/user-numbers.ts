/**
 * Gives users numbers that packet filters can compare. Two users never have the same number, and a number is
 * not used again while this agent lives. There are four billion of them.
 */
export class UserNumbers {
  readonly #users = new Map<string, { readonly number: number; holders: number }>()
  #last = 0

  /** Returns the number of a user. For each call of `hold` there must be one call of `release`. */
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
