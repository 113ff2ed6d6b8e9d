import assert from 'node:assert/strict'

/** Fails with a list of what was found, one entry to a line. */
export function assertNone(found: readonly string[], what = 'these break the rule'): void {
  if (found.length > 0) assert.fail(`${what}:\n  ${found.join('\n  ')}`)
}
