import { strict as assert } from 'node:assert'
import { RequestError, failures, problem } from '../../../src/contract/errors.ts'
import { ErrorCode } from '../../../src/contract/failure.ts'
import type { FailureName } from '../../../src/contract/errors.ts'
import { maxReportedErrors } from '../../../src/contract/limits.ts'

const names = Object.keys(failures) as FailureName[]

describe('the catalogue of errors', () => {
  it('has the codes that clients know', () => {
    const known = {
      Unknown: 0,
      NotSupported: 1,
      NotFound: 8,
      TimedOut: 12,
      NotBoth: 17,
      Quota: 19,
      CertificateNameMismatch: 30,
    }
    assert.partialDeepStrictEqual(ErrorCode, known)
    assert.deepEqual(
      Object.values(ErrorCode).toSorted((a, b) => a - b),
      Array.from({ length: 31 }, (_, code) => code),
    )
  })

  it('gives requests only the statuses that the API has', () => {
    const statuses = new Set([200, 400, 401, 403, 404, 405, 408, 413, 415, 429, 431, 500, 502, 503])
    for (const name of names)
      assert.ok(statuses.has(failures[name].httpStatus), `${name}: ${failures[name].httpStatus}`)
  })

  it('marks exactly the failures that pass by themselves as worth another attempt', () => {
    for (const name of names) {
      const { httpStatus, retryable } = failures[name]
      if ([408, 429, 500, 502, 503].includes(httpStatus)) assert.ok(retryable, name)
      if ([400, 401, 403, 404, 405, 413, 415, 431].includes(httpStatus)) assert.ok(!retryable, name)
    }
  })

  it('fills in every placeholder of a sentence, but none in a value that was filled in', () => {
    assert.equal(
      problem('notFound', { kind: 'instance', by: 'name', value: '{kind}' }).message,
      "No instance with name '{kind}'",
    )
    const braces = names.filter((name) => problem(name).message.includes('{'))
    assert.deepEqual(braces, [])
  })

  it('tells of a request no more problems than a reader can use', () => {
    const many = Array.from({ length: 5_000 }, (_, value) => problem('invalidName', { value }))
    const error = new RequestError(many)
    assert.deepEqual(error.problems, many.slice(0, maxReportedErrors))
    assert.equal(error.message.match(/Invalid name/g)?.length, maxReportedErrors)
  })

  it('takes the status of a request from its first problem', () => {
    assert.equal(new RequestError([problem('bodyTooLarge'), problem('invalidName')]).httpStatus, 413)
  })
})
