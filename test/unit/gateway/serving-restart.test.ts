import assert from 'node:assert/strict'
import { nextServing } from '../../../src/gateway/processes/serving-restart.ts'
import type { ServingEnds } from '../../../src/gateway/processes/serving-restart.ts'

describe('the place of a serving process that ended', () => {
  it('is filled at once, and after longer and longer pauses if the process keeps ending', () => {
    const pauses: number[] = []
    let ends: ServingEnds | undefined
    for (let end = 0; end < 8; end++) {
      ends = nextServing(ends, 0)
      pauses.push(ends.pauseMs)
    }
    assert.deepEqual(pauses, [0, 200, 500, 1_000, 2_000, 5_000, 10_000, 10_000])
  })

  it('is filled at once again if the process had served for half a minute', () => {
    const before = { ends: 5, pauseMs: 2_000 }
    assert.deepEqual(nextServing(before, 30_000), { ends: 1, pauseMs: 0 })
    assert.equal(nextServing(before, 29_999).ends, 6)
  })
})
