/** What one group's tests came to. */
export interface GroupResult {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Full titles of what failed. */
  readonly failures: readonly string[]
}

/** The result of a group that is itself at fault, apart from its tests. */
export function withFailure(result: GroupResult, title: string): GroupResult {
  return { ...result, failed: result.failed + 1, failures: [...result.failures, title] }
}

export const noTests: GroupResult = { passed: 0, failed: 0, skipped: 0, failures: [] }

export function addResults(results: readonly GroupResult[]): GroupResult {
  return results.reduce(
    (sum, one) => ({
      passed: sum.passed + one.passed,
      failed: sum.failed + one.failed,
      skipped: sum.skipped + one.skipped,
      failures: [...sum.failures, ...one.failures],
    }),
    noTests,
  )
}

/** The last line of a run; scripts read it. */
export function summaryLine(result: GroupResult): string {
  const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : ''
  return `${result.passed} passed, ${result.failed} failed${skipped}`
}
