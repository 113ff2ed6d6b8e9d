/** Counts something by key. A key with none takes no memory. */
export class Counts {
  readonly #of = new Map<string, number>()
  #all = 0

  /** The count of all keys together. */
  get all(): number {
    return this.#all
  }

  of(key: string): number {
    return this.#of.get(key) ?? 0
  }

  add(key: string): void {
    this.#of.set(key, this.of(key) + 1)
    this.#all += 1
  }

  /** Takes one back that was added. */
  remove(key: string): void {
    const left = this.of(key) - 1
    this.#all -= 1
    if (left > 0) this.#of.set(key, left)
    else this.#of.delete(key)
  }
}
