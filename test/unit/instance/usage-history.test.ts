import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  addToStep,
  divideGrowth,
  stepOf,
  sumOfSteps,
  usageSteps,
} from '../../../src/domain/instance/usage-history.ts'
import type { UsageStep } from '../../../src/domain/instance/usage-history.ts'
import {
  decodeStep,
  encodeStep,
  placeOf,
  recordBytes,
  stepsIn,
} from '../../../src/host/instance/usage-ring.ts'

const growth = {
  rssBytes: 7,
  cpuTimeMs: 10,
  rxBytes: 9,
  rxPackets: 8,
  txBytes: 7,
  txPackets: 6,
  handled: 5,
  wakes: 1,
  inFlightMs: 4,
}
const usageAt = (atMs: number) => ({ ...growth, atMs, seenMs: 5_000 })

/** A ring in which the records at these times were written one after the other. */
function ringWith(step: UsageStep, times: readonly number[]): Buffer {
  const ring = Buffer.alloc(usageSteps[step].kept * recordBytes)
  for (const atMs of times) encodeStep(usageAt(atMs)).copy(ring, placeOf(step, atMs) - placeOf(step, 0))
  return ring
}

describe('the history of usage', () => {
  it('divides a growth into whole shares that are the growth together, within the time', () => {
    const number = fc.nat(1_000_000)
    fc.assert(
      fc.property(number, fc.integer({ min: 1, max: 20_000 }), number, (fromMs, forMs, cpuTimeMs) => {
        const toMs = fromMs + forMs
        const shares = divideGrowth({ ...growth, cpuTimeMs }, { fromMs, toMs, lengthMs: 5_000 })
        const sum = (name: 'cpuTimeMs' | 'wakes' | 'seenMs') =>
          shares.reduce((total, share) => total + share[name], 0)
        assert.deepEqual([sum('cpuTimeMs'), sum('wakes'), sum('seenMs')], [cpuTimeMs, 1, forMs])
        for (const { atMs, seenMs, cpuTimeMs: share } of shares) {
          assert.equal(atMs, stepOf(atMs, 5_000))
          assert.ok(seenMs > 0 && seenMs <= 5_000 && Number.isInteger(share) && share >= 0)
        }
      }),
    )
  })

  it('adds up what belongs to one step, and begins anew with another step in its place', () => {
    const later = { ...usageAt(5_000), rssBytes: 3 }
    assert.partialDeepStrictEqual(addToStep(usageAt(5_000), later), { cpuTimeMs: 20, wakes: 2, rssBytes: 3 })
    assert.deepEqual(addToStep(usageAt(10_000), later), later)
    assert.deepEqual(addToStep(undefined, later), later)
  })

  it('adds up instances step by step, their memory and their time too, in order', () => {
    const sum = sumOfSteps([[usageAt(5_000), usageAt(10_000)], [], [usageAt(0), usageAt(5_000)]])
    assert.deepEqual(
      sum.map(({ atMs, seenMs, rssBytes, inFlightMs }) => [atMs, seenMs, rssBytes, inFlightMs]),
      [
        [0, 5_000, 7, 4],
        [5_000, 10_000, 14, 8],
        [10_000, 5_000, 7, 4],
      ],
    )
  })

  it('has the newest records that fit, in order, and none that is older or in the future', () => {
    const { lengthMs, kept } = usageSteps['5s']
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 * kept }), (count) => {
        const times = Array.from({ length: count }, (_, index) => (index + 1) * lengthMs)
        const read = stepsIn(ringWith('5s', times), '5s', count * lengthMs)
        assert.deepEqual(
          read.map(({ atMs }) => atMs),
          times.slice(-kept),
        )
      }),
      { numRuns: 20 },
    )
    const ring = ringWith('5m', [300_000, 600_000])
    assert.equal(stepsIn(ring, '5m', 300_000).length, 1)
    assert.equal(stepsIn(ring, '5m', 600_000 + 8_640 * 300_000).length, 0)
  })

  it('takes a torn or damaged record for none', () => {
    const whole = encodeStep(usageAt(5_000))
    assert.deepEqual(decodeStep(whole), usageAt(5_000))
    for (let at = 0; at < recordBytes; at++) {
      const torn = Buffer.concat([whole.subarray(0, at), Buffer.alloc(recordBytes - at)])
      if (!torn.equals(whole)) assert.equal(decodeStep(torn), undefined)
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      assert.equal(decodeStep(damaged), undefined)
    }
    assert.equal(decodeStep(whole.subarray(0, 40)), undefined)
  })
})
