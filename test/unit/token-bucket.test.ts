import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { TokenBuckets, takePermit } from '../../src/domain/token-bucket.ts'
import type { Bucket } from '../../src/domain/token-bucket.ts'

describe('a bucket of permits', () => {
  const rate = { perSecond: 2, burst: 3 }

  it('gives a burst of permits at once, then as many as flow in', () => {
    let bucket: Bucket | undefined
    const taken = [0, 0, 0, 0, 100, 500, 500, 1_000, 10_000, 10_000, 10_000, 10_000].map((nowMs) => {
      const decision = takePermit(rate, bucket, nowMs)
      bucket = decision.bucket
      return decision.retryAfterMs
    })
    assert.deepEqual(taken, [0, 0, 0, 500, 400, 0, 500, 0, 0, 0, 0, 500])
  })

  it('gives more permits than it has if it has at least one, and none until the debt is repaid', () => {
    const { bucket, retryAfterMs } = takePermit(rate, undefined, 0, 10)
    assert.equal(retryAfterMs, 0)
    assert.equal(takePermit(rate, bucket, 1_000).retryAfterMs, 3_000)
    assert.equal(takePermit(rate, bucket, 4_000).retryAfterMs, 0)
  })

  it('is not filled by a clock that goes back', () => {
    const { bucket } = takePermit(rate, { permits: 0, atMs: 1_000 }, 0)
    assert.equal(bucket.permits, 0)
  })

  it('never gives more than the burst and what flowed in', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1_000 }), { maxLength: 100 }), (pausesMs) => {
        let nowMs = 0
        let bucket: Bucket | undefined
        let given = 0
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs
          const decision = takePermit(rate, bucket, nowMs)
          bucket = decision.bucket
          if (decision.retryAfterMs === 0) given++
        }
        assert.ok(given <= rate.burst + (nowMs / 1_000) * rate.perSecond + 1e-6)
      }),
    )
  })
})

describe('buckets of many', () => {
  it('are forgotten and full again when there are too many, first the one that was unused for longest', () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 2)
    const took = ['ann', 'bob', 'ann', 'eve', 'ann', 'bob'].map((key) => buckets.take(key, 0))
    assert.deepEqual(took, [true, true, false, true, false, true])
  })
})
