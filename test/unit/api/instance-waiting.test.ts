import { strict as assert } from 'node:assert'
import { waitMs } from '../../../src/api/instance/waiting.ts'
import { maxWaitMs } from '../../../src/contract/limits.ts'

describe('a wait', () => {
  it('is as long as it was asked for, up to the longest', () => {
    for (const asked of [0, 1, maxWaitMs]) assert.equal(waitMs(asked), asked)
    for (const asked of [-1, maxWaitMs + 1, 2 ** 63, Infinity]) assert.equal(waitMs(asked), maxWaitMs)
  })

  it('ends before clients in JavaScript give up on an answer', () => {
    assert.ok(maxWaitMs < 300_000)
  })
})
