import type { Operation } from '../operation.ts'
import type { JsonObject } from './objects.ts'

/**
 * Turns `timeout_s` into milliseconds. Newer clients give it in place of the older parameter in
 * milliseconds, whose name differs by operation. The code after the parser sees milliseconds only. If both
 * are given, the seconds count, as those clients document it.
 */
export function inMilliseconds(operation: Operation, parameters: JsonObject): JsonObject {
  const { timeout_s: seconds, ...rest } = parameters
  if (typeof seconds !== 'number') return parameters
  const name = ['wait_timeout_ms', 'timeout_ms'].find((each) => each in operation.body.properties)
  if (name === undefined) return rest
  return { ...rest, [name]: seconds < 0 ? seconds : seconds * 1_000 }
}
