import type { FailedEntry } from '../contract/envelope.ts'
import { problem } from '../contract/errors.ts'
import type { FailureName, Problem } from '../contract/errors.ts'
import type { Target } from '../contract/request/parsed-request.ts'
import type { InstanceRow } from '../db/instance/row.ts'

/** The entry of an object that was not found. It is named as in the request. */
export function missingEntry(kind: string, target: Target): FailedEntry {
  const { by, value, endpointPath: path } = target
  const wrong =
    path === undefined
      ? problem('notFound', { kind, by, value })
      : problem('neitherObjectNorEndpoint', { kind, by, value, path })
  return { status: 'error', [by]: value, message: wrong.message, error: wrong.code }
}

/** The entry of an instance for which the operation failed. */
export function failedInstance(
  row: Pick<InstanceRow, 'uuid' | 'name' | 'state'>,
  name: FailureName,
  values: Readonly<Record<string, string | number>> = {},
): FailedEntry {
  const wrong = problem(name, values)
  const { uuid, state } = row
  return { status: 'error', uuid, name: row.name, state, message: wrong.message, error: wrong.code }
}

/** The entry of an object that could not be made, and so does not exist. */
export function unmadeEntry(wrong: Problem, name?: string): FailedEntry {
  return {
    status: 'error',
    ...(name === undefined ? {} : { name }),
    message: wrong.message,
    error: wrong.code,
  }
}
