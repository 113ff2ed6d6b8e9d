/**
 * Shares one reading among all callers that ask at the same time. An answer is never older than its
 * question: callers that ask while a reading is under way wait together for the next one.
 */
export class SharedReading<T> {
  readonly #read: () => Promise<T>
  #current: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(read: () => Promise<T>) {
    this.#read = read
  }

  async get(): Promise<T> {
    if (this.#current === undefined) return await this.#begin()
    this.#next ??= this.#after(this.#current)
    return await this.#next
  }

  async #after(current: Promise<T>): Promise<T> {
    await current.catch(() => undefined)
    this.#next = undefined
    return await this.#begin()
  }

  async #begin(): Promise<T> {
    const reading = this.#read().finally(() => {
      if (this.#current === reading) this.#current = undefined
    })
    this.#current = reading
    return await reading
  }
}
