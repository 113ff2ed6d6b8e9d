import assert from 'node:assert/strict'
import fc from 'fast-check'
import { CurveShape, loadCurve, recordedLoad } from '../../../src/domain/autoscale/load-curve.ts'

const shapes = Object.values(CurveShape)
const usual = { low: 10, high: 110, periodMs: 100_000, seed: 1 }

function seen(shape: CurveShape, ...seconds: readonly number[]): readonly number[] {
  const curve = loadCurve(shape, usual)
  return seconds.map((second) => Math.round(curve(second * 1_000)))
}

describe('a curve of load', () => {
  const cases: [shape: CurveShape, seconds: number[], loads: number[]][] = [
    ['step', [0, 24, 25, 74, 75, 99, 100, 125], [10, 10, 110, 110, 10, 10, 10, 110]],
    ['ramp', [0, 25, 50, 75, 100], [10, 60, 110, 60, 10]],
    ['sine', [0, 25, 50, 75, 100], [10, 60, 110, 60, 10]],
    ['spike', [0, 44, 45, 54, 55], [10, 10, 110, 110, 10]],
    ['flat', [0, 50, 99], [110, 110, 110]],
  ]
  for (const [shape, seconds, loads] of cases)
    it(`has the shape of a ${shape}`, () => assert.deepEqual(seen(shape, ...seconds), loads))

  it('of noise has another value in each second, spread evenly over the range', () => {
    const loads = seen('noise', ...Array.from({ length: 1_000 }, (_, second) => second))
    for (let decile = 0; decile < 10; decile++) {
      const inside = loads.filter((load) => load >= 10 + decile * 10 && load < 20 + decile * 10)
      assert.ok(inside.length > 60 && inside.length < 140, `${inside.length} in decile ${decile}`)
    }
    const same = loads.filter((load, at) => load === loads[at + 1])
    assert.ok(same.length < 50, String(same.length))
  })

  it('has one value per moment, which stays within its range and its noise and is never below 0', () => {
    const options = fc.record({
      low: fc.nat({ max: 100 }),
      spread: fc.nat({ max: 100 }),
      periodMs: fc.integer({ min: 1_000, max: 1_000_000 }),
      noise: fc.constantFrom(0, 0.1, 1),
      seed: fc.nat(),
    })
    fc.assert(
      fc.property(fc.constantFrom(...shapes), options, fc.nat({ max: 10_000_000 }), (shape, told, atMs) => {
        const { low, spread, noise } = told
        const one = loadCurve(shape, { ...told, high: low + spread })
        const load = one(atMs)
        assert.equal(loadCurve(shape, { ...told, high: low + spread })(atMs), load)
        assert.ok(
          load >= low * (1 - noise) - 1e-9 && load <= (low + spread) * (1 + noise) + 1e-9,
          String(load),
        )
      }),
    )
  })

  it('differs by its seed', () => {
    const at = (seed: number) => loadCurve('noise', { ...usual, seed })(5_000)
    assert.equal(new Set(Array.from({ length: 100 }, (_, seed) => at(seed))).size, 100)
  })
})

describe('a recorded load', () => {
  const load = recordedLoad([
    { atMs: 1_000, load: 5 },
    { atMs: 2_000, load: 7 },
    { atMs: 4_000, load: 1 },
  ])

  it('keeps the value of a point until the next point, and has the value of the first point before that point', () => {
    assert.deepEqual([0, 1_000, 1_999, 2_000, 3_999, 4_000, 99_000].map(load), [5, 5, 5, 7, 7, 1, 1])
  })
})
