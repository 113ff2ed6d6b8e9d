import assert from 'node:assert/strict'
import fc from 'fast-check'
import { nextPause } from '../../../src/primitives/restart-pause.ts'
import type { EndsInRow } from '../../../src/primitives/restart-pause.ts'

const table = [200, 500, 1_000, 2_000, 5_000, 10_000, 10_000]

function pausesOf(ends: number, options?: { readonly firstAtOnce: boolean }): readonly number[] {
  const pauses: number[] = []
  let last: EndsInRow | undefined
  for (let end = 0; end < ends; end++) {
    last = nextPause(last, 0, options)
    pauses.push(last.pauseMs)
  }
  return pauses
}

describe('the pauses of a process that keeps ending', () => {
  it('follow their table and then stay at ten seconds', () => {
    assert.deepEqual(pausesOf(7), table)
  })

  it('follow the same table one end later if the process is wanted at once', () => {
    assert.deepEqual(pausesOf(8, { firstAtOnce: true }), [0, ...table])
  })

  it('begin again once the process has stayed up for half a minute', () => {
    const before = { ends: 5, pauseMs: 5_000 }
    assert.deepEqual(nextPause(before, 30_000), { ends: 1, pauseMs: 200 })
    assert.deepEqual(nextPause(before, 30_000, { firstAtOnce: true }), { ends: 1, pauseMs: 0 })
    assert.equal(nextPause(before, 29_999).ends, 6)
  })

  it('are never shorter than 0.2 s nor longer than ten seconds', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000 }), fc.nat({ max: 100_000 }), (ends, uptimeMs) => {
        const { pauseMs } = nextPause({ ends, pauseMs: 0 }, uptimeMs)
        assert.ok(pauseMs >= 200 && pauseMs <= 10_000)
      }),
    )
  })
})
