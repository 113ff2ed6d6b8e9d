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
   * Runs `work` as soon as a place is free. If `signal` is aborted while the work waits, throws the signal's
   * reason. `signal` does not end work that has begun; the caller has to do that.
   */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal = never): Promise<Result> {
    return await this.#fair.run('everybody', signal, work)
  }
}
