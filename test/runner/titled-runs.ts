import process from 'node:process'
import { countsOf, summaryLine } from './group-result.ts'
import { namespaceFor } from './groups.ts'
import type { Group } from './groups.ts'
import { OutputTurns } from './output-turns.ts'
import { runGroup } from './run-group.ts'
import type { GroupRun } from './run-group.ts'
import { seconds } from './run-report.ts'

export interface TitledRunsOptions {
  readonly env: (group: Group) => NodeJS.ProcessEnv
  /** If true, groups that pass show only their counts, so that failures are easy to find in the output. */
  readonly failuresOnly: boolean
}

/** Runs groups, each with its output between a title and its counts, until it is interrupted. */
export class TitledRuns {
  readonly #options: TitledRunsOptions
  readonly #turns = new OutputTurns((text) => process.stdout.write(text))
  readonly #interrupt = new AbortController()

  constructor(options: TitledRunsOptions) {
    this.#options = options
  }

  get interrupted(): boolean {
    return this.#interrupt.signal.aborted
  }

  /** Why the runs were interrupted. */
  get whyInterrupted(): string {
    return String(this.#interrupt.signal.reason)
  }

  /** Ends the running groups at once. No further group is run. */
  interrupt(why: string): void {
    this.#interrupt.abort(why)
  }

  /** Runs a group. Resolves to undefined if it was not run because of an interrupt. */
  async run(group: Group, title: string): Promise<GroupRun | undefined> {
    if (this.interrupted) return undefined
    const { env, failuresOnly } = this.#options
    const mark = `${process.pid}/${group.name}`
    const output = this.#turns.begin()
    output.write(`\n== ${title}\n`)
    const kept: string[] = []
    const write = (text: string): unknown => (failuresOnly ? kept.push(text) : output.write(text))
    const run = await runGroup(group, {
      mark,
      env: env(group),
      write,
      signal: this.#interrupt.signal,
      namespace: namespaceFor(group),
    })
    const counts = countsOf(run.result)
    if (counts.failed > 0) output.write(kept.join(''))
    output.write(`== ${title}: ${summaryLine(counts)} in ${seconds(run.elapsedMs)}\n`)
    output.end()
    return run
  }
}
