import type { PlatformProcess, RunningPart } from '../platform.ts'
import type { Part } from './part.ts'
import { PartRun } from './part-run.ts'
import type { PartRunOptions, PartStop } from './part-run.ts'

interface Run {
  readonly part: PartRun
  readonly stopping: AbortController
}

/** A part that can be stopped, started again and replaced while the other parts run. */
export class SupervisedPart implements RunningPart {
  readonly #part: Part
  readonly #options: PartRunOptions
  readonly #closing: AbortSignal
  #run: Run | undefined
  /** Runs that handed over. Their processes end in their own time. */
  readonly #left = new Set<Run>()
  #isFirstStart = true

  /** Once `closing` aborts, the part is not started any more, although it may not have been stopped yet. */
  constructor(part: Part, options: PartRunOptions, closing: AbortSignal) {
    this.#part = part
    this.#options = options
    this.#closing = closing
  }

  get name(): string {
    return this.#part.name
  }

  get handsOver(): boolean {
    return this.#part.handsOver === true
  }

  get ends(): number {
    return this.#run?.part.ends ?? 0
  }

  /**
   * Resolves once the part is ready, and after its first start once `afterFirstReady` is done too. From then
   * on the part is started again whenever it ends. Only a part that does not run may be started. If it
   * throws, the part has to be stopped.
   */
  async start(): Promise<void> {
    await this.#newRun().part.start()
    if (this.#isFirstStart) await this.#part.afterFirstReady?.()
    this.#isFirstStart = false
  }

  insist(): void {
    const run = this.#newRun()
    run.part.insist()
  }

  async handOverTo(startNext: () => Promise<void>): Promise<void> {
    const run = this.#run
    if (run === undefined) throw new Error(`${this.#part.name} does not run`)
    await run.part.handOverTo(startNext)
    this.#left.add(run)
    this.#run = undefined
  }

  #newRun(): Run {
    if (this.#run !== undefined) throw new Error(`${this.#part.name} runs already`)
    const stopping = new AbortController()
    const signal = AbortSignal.any([this.#closing, stopping.signal])
    this.#run = { part: new PartRun(this.#part, this.#options, signal), stopping }
    return this.#run
  }

  /** Resolves once all processes of the part are gone. Does nothing if the part does not run. */
  async stop(how: PartStop): Promise<void> {
    const runs = [...this.#left, ...(this.#run === undefined ? [] : [this.#run])]
    for (const { stopping } of runs) stopping.abort()
    await Promise.all(runs.map(async ({ part }) => await part.stop(how)))
    this.#left.clear()
    this.#run = undefined
  }
}

/**
 * How long a part may take to become ready in an upgrade. Until an upgrade goes back, no host may get an
 * answer of the API, and its VMs end with its term.
 */
const takeOverLimitMs = 30_000

/** The parts of one version, which start when they are told to. */
export function supervisedParts(
  parts: readonly Part[],
  platformProcess: PlatformProcess,
): readonly SupervisedPart[] {
  const options = { ...platformProcess, ...(platformProcess.takesOver && { startLimitMs: takeOverLimitMs }) }
  return parts.map((part) => new SupervisedPart(part, options, platformProcess.closing))
}
