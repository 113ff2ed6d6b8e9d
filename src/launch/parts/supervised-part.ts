import type { Part } from './part.ts'
import { PartRun } from './part-run.ts'
import type { PartRunOptions, PartStop } from './part-run.ts'

/** A part that can be stopped and started again while the other parts run. */
export class SupervisedPart {
  readonly #part: Part
  readonly #options: PartRunOptions
  readonly #closing: AbortSignal
  #run: { readonly part: PartRun; readonly stopping: AbortController } | undefined
  #isFirstStart = true

  /** Once `closing` aborts, the part is not started any more, although it may not have been stopped yet. */
  constructor(part: Part, options: PartRunOptions, closing: AbortSignal) {
    this.#part = part
    this.#options = options
    this.#closing = closing
  }

  /**
   * Resolves once the part is ready, and after its first start once `afterFirstReady` is done too. From then
   * on the part is started again whenever it ends. Only a part that does not run may be started. If it
   * throws, the part has to be stopped.
   */
  async start(): Promise<void> {
    if (this.#run !== undefined) throw new Error(`${this.#part.name} runs already`)
    const stopping = new AbortController()
    const signal = AbortSignal.any([this.#closing, stopping.signal])
    this.#run = { part: new PartRun(this.#part, this.#options, signal), stopping }
    await this.#run.part.start()
    if (this.#isFirstStart) await this.#part.afterFirstReady?.()
    this.#isFirstStart = false
  }

  /** Resolves once all processes of the part are gone. Does nothing if the part does not run. */
  async stop(how: PartStop): Promise<void> {
    const run = this.#run
    run?.stopping.abort()
    await run?.part.stop(how)
    this.#run = undefined
  }
}
