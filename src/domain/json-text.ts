/**
 * Parses what another program has written. Undefined if it is not JSON; the caller says whose text it is, and
 * checks that it has the right shape.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
