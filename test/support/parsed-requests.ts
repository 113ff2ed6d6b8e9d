import { strict as assert } from 'node:assert'
import { RequestError } from '../../src/contract/errors.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import type { OperationId } from '../../src/contract/operations.ts'
import type { ParsedRequest } from '../../src/contract/request/parsed-request.ts'
import { requestParser } from '../../src/contract/request/parser.ts'

/** The parts of a request that a test gives. */
export interface RequestInput {
  readonly query?: string
  readonly owner?: string
  readonly object?: string
  readonly body?: unknown
}

const parsers = new Map(
  (Object.values(operations) as readonly Operation[]).map((operation) => [
    operation.id,
    requestParser(operation),
  ]),
)

export function parse(id: OperationId, { query = '', ...raw }: RequestInput): ParsedRequest {
  return parsers.get(id)!({ query, ...raw })
}

/** The messages with which a request is refused. */
export function messages(id: OperationId, input: RequestInput): readonly string[] {
  try {
    parse(id, input)
  } catch (error) {
    if (error instanceof RequestError) return error.problems.map(({ message }) => message)
    throw error
  }
  return assert.fail('the request was accepted')
}
