/** The results of tests, as counts. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The full titles of failed tests and hooks. */
  readonly failures: readonly string[]
}

/** The results of the tests and hooks of one file. */
export interface FileResult extends Counts {
  readonly file: string
  readonly elapsedMs: number
}

/** The results of one group's tests. */
export interface GroupResult {
  readonly files: readonly FileResult[]
  /** Failures that belong to no file, as sentences. They stay, even if a second try of a file passes. */
  readonly faults: readonly string[]
}

export const noTests: GroupResult = { files: [], faults: [] }
export const noCounts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] }

/** Adds a failure that no test reported. `file` is the file that caused the failure, if it is known. */
export function withFailure(result: GroupResult, title: string, file?: string): GroupResult {
  if (file === undefined) return { ...result, faults: [...result.faults, title] }
  const others = result.files.filter((one) => one.file !== file)
  const own = result.files.find((one) => one.file === file) ?? { ...noCounts, file, elapsedMs: 0 }
  const failed = { ...own, failed: own.failed + 1, failures: [...own.failures, title] }
  return { ...result, files: [...others, failed] }
}

export function addResults(results: readonly GroupResult[]): GroupResult {
  return { files: results.flatMap((one) => one.files), faults: results.flatMap((one) => one.faults) }
}

export function countsOf({ files, faults }: GroupResult): Counts {
  const faulty: Counts = { ...noCounts, failed: faults.length, failures: faults }
  return [...files, faulty].reduce<Counts>(
    (sum, one) => ({
      passed: sum.passed + one.passed,
      failed: sum.failed + one.failed,
      skipped: sum.skipped + one.skipped,
      failures: [...sum.failures, ...one.failures],
    }),
    noCounts,
  )
}

/** The last line of a run. Scripts read it. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
