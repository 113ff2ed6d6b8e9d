import { FairSemaphore } from './fair-semaphore.ts'

const never = new AbortController().signal

/** Lets at most `size` pieces of work run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #fair: FairSemaphore

  /** Work that takes longer than `countsForMs` goes on beside the next. Absent: it counts until its end. */
  constructor(size: number, countsForMs?: number) {
    this.#fair = new FairSemaphore({ size, perUser: size, ...(countsForMs !== undefined && { countsForMs }) })
  }

  /**
   * With an aborted `signal` the wait ends and throws the signal's reason; work that has begun is the
   * caller's to end.
   */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal = never): Promise<Result> {
    return await this.#fair.run('everybody', signal, work)
  }
}
