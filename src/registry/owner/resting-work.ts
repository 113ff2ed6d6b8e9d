export interface RestingWorkDeps {
  readonly work: () => Promise<void>
  readonly onError: (error: unknown) => void
  readonly nowMs: () => number
  readonly delay: (ms: number) => Promise<void>
}

/**
 * A rest is this many times as long as the work before it, so that a large storage is not read all day.
 */
const restFactor = 10
const shortestRestMs = 1_000

/**
 * Runs one piece of work at a time, on demand. Between two runs it rests, for longer if a run takes longer.
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
   * Resolves when a run that began after this call has ended, even if it failed. Calls that come before that
   * run begins share it.
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
