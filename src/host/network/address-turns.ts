/**
 * Runs tasks about addresses. Tasks that have an address in common run one after another, in the order in
 * which they came; all others run side by side.
 */
export class AddressTurns {
  /** The last task of each address. */
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(addresses: readonly string[], task: () => Promise<T>): Promise<T> {
    const before = addresses.flatMap((address) => this.#last.get(address) ?? [])
    const mine = Promise.all(before).then(task)
    const turn = mine.catch(() => undefined)
    for (const address of addresses) this.#last.set(address, turn)
    try {
      return await mine
    } finally {
      for (const address of addresses) if (this.#last.get(address) === turn) this.#last.delete(address)
    }
  }
}
