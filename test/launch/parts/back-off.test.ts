import assert from 'node:assert/strict'
import fc from 'fast-check'
import { nextRestart } from '../../../src/launch/parts/back-off.ts'
import type { CrashRecord } from '../../../src/launch/parts/back-off.ts'

describe('the back-off of a part that crashes', () => {
  it('follows its table and then stays at ten seconds', () => {
    const delays: number[] = []
    let record: CrashRecord | undefined
    for (let crash = 0; crash < 8; crash++) {
      record = nextRestart(record, 0)
      delays.push(record.delayMs)
    }
    assert.deepEqual(delays, [200, 500, 1_000, 2_000, 5_000, 10_000, 10_000, 10_000])
  })

  it('begins again at the first delay for a part that stayed up for half a minute', () => {
    const record = { crashes: 5, delayMs: 5_000 }
    assert.deepEqual(nextRestart(record, 30_000), { crashes: 1, delayMs: 200 })
    assert.equal(nextRestart(record, 29_999).crashes, 6)
  })

  it('never lets a part start again without a pause, nor stay away for more than ten seconds', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000 }), fc.nat({ max: 100_000 }), (crashes, uptimeMs) => {
        const { delayMs } = nextRestart({ crashes, delayMs: 0 }, uptimeMs)
        assert.ok(delayMs >= 200 && delayMs <= 10_000)
      }),
    )
  })
})
