export interface RestingWorkDeps {
  readonly work: () => Promise<void>
  readonly onError: (error: unknown) => void
  readonly nowMs: () => number
  readonly delay: (ms: number) => Promise<void>
}

/** The work may take this share of the time, so that a large storage is not read all day. */
const restFactor = 10
const shortestRestMs = 1_000

/**
 * Runs one piece of work at a time, on demand and now and then, with a rest between two that grows with what
 * one takes.
 */
export class RestingWork {
  readonly #deps: RestingWorkDeps
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #restUntilMs = 0

  constructor(deps: RestingWorkDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when a run that began after this call has ended, well or not. Who comes while it is waited for
   * joins.
   */
  fresh(): Promise<void> {
    return (this.#next ??= this.#running.then(async () => {
      await this.#deps.delay(Math.max(0, this.#restUntilMs - this.#deps.nowMs()))
      this.#next = undefined
      this.#running = this.#run()
      await this.#running
    }))
  }

  async #run(): Promise<void> {
    const startedMs = this.#deps.nowMs()
    await this.#deps.work().catch(this.#deps.onError)
    const endedMs = this.#deps.nowMs()
    this.#restUntilMs = endedMs + Math.max(shortestRestMs, (endedMs - startedMs) * restFactor)
  }
}
