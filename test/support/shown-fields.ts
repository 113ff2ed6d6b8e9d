import { strict as assert } from 'node:assert'

/**
 * Compares the fields that are expected, each exactly, and no others. `partialDeepStrictEqual` would take an
 * empty array for a part of any array.
 */
export function assertShows(shown: object, expected: Readonly<Record<string, unknown>>): void {
  const compared = Object.keys(expected).map((field) => [field, (shown as Record<string, unknown>)[field]])
  assert.deepEqual(Object.fromEntries(compared), expected)
}
