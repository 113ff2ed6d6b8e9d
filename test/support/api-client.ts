import assert from 'node:assert/strict'
import { Agent, request } from 'undici'
import { answerSchema, requestFailure } from '../../src/contract/envelope.ts'
import type { FailedEntry } from '../../src/contract/envelope.ts'
import type { Operation, OperationEntry } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import type { OperationId, Operations } from '../../src/contract/operations.ts'
import { strictValidator } from '../../src/contract/request/validators.ts'
import type { Validate } from '../../src/contract/request/validators.ts'

/**
 * The API over HTTP, as one user. Every answer is checked against the published contract before a test gets
 * it.
 */
export interface ApiClient {
  /** Makes a call that has to succeed for every object, and returns its entries. */
  call<Id extends OperationId>(id: Id, input?: CallInput): Promise<readonly Entry<Id>[]>
  /** The same for exactly one object. */
  one<Id extends OperationId>(id: Id, input?: CallInput): Promise<Entry<Id>>
  /** Makes a call and returns its answer, also a failure. */
  attempt<Id extends OperationId>(id: Id, input?: CallInput): Promise<Answer<Id>>
  close(): Promise<void>
}

export interface CallInput {
  /** The object for `{owner}` in the path. The objects of the call belong to it. */
  readonly owner?: string
  /** The object for `{object}` in the path, which makes the call one in local scope. */
  readonly object?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type Entry<Id extends OperationId> = OperationEntry<Operations[Id]>

export interface Answer<Id extends OperationId> {
  readonly httpStatus: number
  readonly status: 'success' | 'partial_success' | 'error'
  readonly entries: readonly (Entry<Id> | FailedEntry)[]
  readonly errors: readonly { readonly status: number; readonly error: number; readonly message: string }[]
}

/** The time limit of a call. It is more than the longest wait that a test asks for. */
const answerLimitMs = 150_000

const validators = new Map<OperationId, Validate>()
const isRequestFailure = strictValidator(requestFailure)

export function createApiClient(options: { readonly url: string; readonly token: string }): ApiClient {
  const dispatcher = new Agent({ headersTimeout: answerLimitMs, bodyTimeout: answerLimitMs })
  const attempt = async <Id extends OperationId>(id: Id, input: CallInput = {}): Promise<Answer<Id>> => {
    const operation = operations[id]
    const url = new URL(pathOf(id, input), options.url)
    for (const [key, value] of Object.entries(input.query ?? {})) url.searchParams.set(key, value)
    const response = await request(url, {
      dispatcher,
      method: operation.method,
      headers: {
        authorization: `Bearer ${options.token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    })
    const json: unknown = await response.body.json()
    assertValid(id, response.statusCode, json)
    const { status, data, errors } = json as {
      status: Answer<Id>['status']
      data?: Record<string, Answer<Id>['entries']>
      errors?: Answer<Id>['errors']
    }
    return {
      httpStatus: response.statusCode,
      status,
      entries: data?.[operation.dataKey] ?? [],
      errors: errors ?? [],
    }
  }
  const call = async <Id extends OperationId>(id: Id, input?: CallInput): Promise<readonly Entry<Id>[]> => {
    const answer = await attempt(id, input)
    assert.equal(answer.status, 'success', `${id} ${JSON.stringify(input)}: ${JSON.stringify(answer)}`)
    return answer.entries as readonly Entry<Id>[]
  }
  return {
    attempt,
    call,
    async one(id, input) {
      const entries = await call(id, input)
      const [entry] = entries
      assert.ok(entry !== undefined && entries.length === 1, `${id}: ${entries.length} entries, expected one`)
      return entry
    },
    close: () => dispatcher.close(),
  }
}

function pathOf(id: OperationId, { owner, object }: CallInput): string {
  const operation: Operation = operations[id]
  const path = object === undefined ? operation.path : operation.localPath
  assert.ok(path !== undefined, `${id} has no local scope`)
  assert.equal(path.includes('{owner}'), owner !== undefined, `the owner in ${path}`)
  return path
    .replace('{owner}', encodeURIComponent(owner ?? ''))
    .replace('{object}', encodeURIComponent(object ?? ''))
}

function assertValid(id: OperationId, httpStatus: number, json: unknown): void {
  const problems = httpStatus === 200 ? validatorOf(id)(json) : isRequestFailure(json)
  const text = problems.map((one) => `${one.instancePath} ${one.message}`).join('; ')
  assert.equal(
    text,
    '',
    `${id} answered ${httpStatus} with what the contract does not have: ${JSON.stringify(json)}`,
  )
}

function validatorOf(id: OperationId): Validate {
  const validate = validators.get(id) ?? strictValidator(answerSchema(operations[id]))
  validators.set(id, validate)
  return validate
}
