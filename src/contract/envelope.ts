import { Type } from 'typebox'
import type { Static } from 'typebox'
import { ErrorCode } from './failure.ts'
import { closed, uuidField, vocabulary } from './fields.ts'
import { instanceStates } from '../domain/instance/state.ts'
import type { Operation } from './operation.ts'

/**
 * The status of an answer. In every answer `data` has exactly one key, which holds the entries in the order
 * of the request.
 */
export const EnvelopeStatus = {
  Success: 'success',
  PartialSuccess: 'partial_success',
  Error: 'error',
} as const
export type EnvelopeStatus = (typeof EnvelopeStatus)[keyof typeof EnvelopeStatus]

const errorCode = Type.Integer({
  minimum: 0,
  maximum: Math.max(...Object.values(ErrorCode)),
  description: 'Numeric code of the error.',
})

/**
 * The entry of an object that failed. `state` is present if the object exists and the failure is about its
 * state.
 */
export const failedEntry = closed({
  status: Type.Literal('error'),
  uuid: Type.Optional(uuidField),
  name: Type.Optional(Type.String()),
  id: Type.Optional(Type.String({ description: 'The `id` of the object, if it is a change that has one.' })),
  state: Type.Optional(vocabulary(instanceStates, 'Current state.')),
  message: Type.String({ minLength: 1 }),
  error: errorCode,
})
export type FailedEntry = Static<typeof failedEntry>

/** The answer if the request as a whole failed. Its HTTP status is that of the first error. */
export const requestFailure = closed({
  status: Type.Literal('error'),
  message: Type.String({
    minLength: 1,
    description: 'The messages of all errors; some clients show no other.',
  }),
  errors: Type.Array(
    closed({
      status: Type.Integer({ minimum: 400, maximum: 599, description: 'HTTP status.' }),
      error: errorCode,
      message: Type.String({ minLength: 1 }),
    }),
    { minItems: 1 },
  ),
})
export type RequestFailure = Static<typeof requestFailure>

/** The schema of every answer of an operation that has HTTP status 200. */
export function answerSchema(operation: Operation) {
  const { dataKey, entry } = operation
  const full = closed({
    status: Type.Literal('success'),
    data: closed({ [dataKey]: Type.Array(entry) }),
  })
  const failed = closed({
    status: vocabulary(['partial_success', 'error'], 'Some objects failed, or all.'),
    message: Type.String({ minLength: 1 }),
    data: closed({ [dataKey]: Type.Array(Type.Union([entry, failedEntry]), { minItems: 1 }) }),
  })
  return Type.Union([full, failed])
}
