import { FairSemaphore } from './fair-semaphore.ts'

const never = new AbortController().signal

/** Lets at most `size` pieces of work run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #fair: FairSemaphore

  /**
   * Work that takes longer than `countsForMs` goes on but does not count any more, so the next work begins.
   * If `countsForMs` is absent, work counts until its end.
   */
  constructor(size: number, countsForMs?: number) {
    this.#fair = new FairSemaphore({ size, perUser: size, ...(countsForMs !== undefined && { countsForMs }) })
  }

  /**
   * An aborted `signal` ends the wait with the signal's reason. The caller has to end work that has begun.
   */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal = never): Promise<Result> {
    return await this.#fair.run('everybody', signal, work)
  }
}
