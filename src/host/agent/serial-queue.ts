/** Runs tasks one after another, in the order of the calls. A task that fails does not hold up the next. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  async run<T>(task: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(task)
    this.#last = mine.catch(() => undefined)
    return await mine
  }
}
