import type Mocha from 'mocha'
import { noCounts } from './group-result.ts'
import type { FileResult, GroupResult } from './group-result.ts'

/**
 * The message of a group's process to its parent. It is sent at every change of file, and once more after
 * the last test.
 */
export interface Progress extends GroupResult {
  /** The file whose tests run now. */
  readonly running?: string
  readonly ended: boolean
}

/**
 * Records the results of mocha's runner by file. Files run one after another, so the time from one change of
 * file to the next belongs to one file.
 */
export class FileRecord {
  readonly #files = new Map<string, FileResult>()
  readonly #faults: string[] = []
  readonly #onChange: (progress: Progress) => void
  #running: string | undefined
  #sinceMs = 0

  constructor(onChange: (progress: Progress) => void) {
    this.#onChange = onChange
  }

  follow(runner: Mocha.Runner): void {
    runner.on('suite', (suite) => {
      if (!suite.root) this.#moveTo(suite.file)
    })
    runner.on('test', (test) => this.#moveTo(test.file))
    // After a file's last suite or test there may be hooks that belong to no file, such as the end of a
    // shared stack.
    runner.on('suite end', (suite) => {
      if (suite.parent?.root === true) this.#moveTo(undefined)
    })
    runner.on('test end', (test) => {
      if (test.parent?.root === true) this.#moveTo(undefined)
    })
    runner.on('pass', (test) => this.#count(test.file, ({ passed }) => ({ passed: passed + 1 })))
    runner.on('pending', (test) => this.#count(test.file, ({ skipped }) => ({ skipped: skipped + 1 })))
    runner.on('fail', (failed) => {
      const title = failed.fullTitle()
      const file = failed.file ?? this.#running
      if (file === undefined) this.#faults.push(title)
      else this.#count(file, (one) => ({ failed: one.failed + 1, failures: [...one.failures, title] }))
    })
  }

  end(): Progress {
    this.#moveTo(undefined)
    return this.#progress(true)
  }

  #progress(ended: boolean): Progress {
    const running = this.#running === undefined ? {} : { running: this.#running }
    return { files: [...this.#files.values()], faults: this.#faults, ...running, ended }
  }

  #moveTo(file: string | undefined): void {
    if (file === this.#running) return
    const nowMs = performance.now()
    const spentMs = nowMs - this.#sinceMs
    this.#count(this.#running, ({ elapsedMs }) => ({ elapsedMs: elapsedMs + spentMs }))
    this.#running = file
    this.#sinceMs = nowMs
    this.#onChange(this.#progress(false))
  }

  #count(file: string | undefined, change: (before: FileResult) => Partial<FileResult>): void {
    if (file === undefined) return
    const before = this.#files.get(file) ?? { ...noCounts, file, elapsedMs: 0 }
    this.#files.set(file, { ...before, ...change(before) })
  }
}
