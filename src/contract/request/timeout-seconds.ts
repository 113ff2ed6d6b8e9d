import type { Operation } from '../operation.ts'
import type { JsonObject } from './objects.ts'

/**
 * Newer clients give `timeout_s` where older ones give milliseconds, under a name that differs by operation.
 * Beyond the parser there are milliseconds only. Seconds win where both are given, as those clients document
 * it.
 */
export function inMilliseconds(operation: Operation, parameters: JsonObject): JsonObject {
  const { timeout_s: seconds, ...rest } = parameters
  if (typeof seconds !== 'number') return parameters
  const name = ['wait_timeout_ms', 'timeout_ms'].find((each) => each in operation.body.properties)
  if (name === undefined) return rest
  return { ...rest, [name]: seconds < 0 ? seconds : seconds * 1_000 }
}
