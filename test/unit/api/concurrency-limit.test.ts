import { strict as assert } from 'node:assert'
import { concurrencyLimit } from '../../../src/api/middleware/concurrency-limit.ts'
import type { ApiContext } from '../../../src/api/request-state.ts'
import { RequestError } from '../../../src/contract/errors.ts'
import { maxRequestsUnderWay } from '../../../src/contract/limits.ts'

function contextOf(userUuid: string): ApiContext {
  return { state: { identity: { userUuid } } } as unknown as ApiContext
}

describe('the limit of requests under way', () => {
  it('refuses further requests of an account until one of its own ends, and affects no other account', async () => {
    const limit = concurrencyLimit()
    const held = Promise.withResolvers<void>()
    const waiting = Array.from({ length: maxRequestsUnderWay }, () =>
      limit(contextOf('a'), () => held.promise),
    )
    let passed = 0
    const pass = () => Promise.resolve(void (passed += 1))

    await assert.rejects(async () => await limit(contextOf('a'), pass), {
      name: RequestError.name,
      httpStatus: 429,
    })
    await limit(contextOf('b'), pass)
    held.resolve()
    await Promise.all(waiting)
    await limit(contextOf('a'), pass)
    assert.equal(passed, 2)
  })
})
