import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AdjustmentType, AutoscaleMetric } from '../../../src/domain/autoscale/policy.ts'
import type { AutoscalePolicy, AutoscaleStep } from '../../../src/domain/autoscale/policy.ts'
import { adjustedSize, proposeSize, stepFor } from '../../../src/domain/autoscale/proposal.ts'
import { findPolicyProblems, maxStepsPerPolicy, resolvePolicy } from '../../../src/domain/autoscale/steps.ts'
import type { PolicyProblem, WrittenPolicy, WrittenStep } from '../../../src/domain/autoscale/steps.ts'

/** A valid sequence of steps: ascending bounds, and whether the first and the last step are open. */
const ascending = fc
  .record({
    bounds: fc.uniqueArray(fc.nat({ max: 5_000 }), { minLength: 2, maxLength: maxStepsPerPolicy - 1 }),
    openBelow: fc.boolean(),
    openAbove: fc.boolean(),
  })
  .chain(({ bounds, openBelow, openAbove }) => {
    const inner = bounds.toSorted((a, b) => a - b)
    const all = [...(openBelow ? [undefined] : []), ...inner, ...(openAbove ? [undefined] : [])]
    const steps = all.slice(1).map((upperBound, index) => ({ lowerBound: all[index], upperBound }))
    return fc
      .array(fc.integer({ min: 0, max: 20 }), { minLength: steps.length, maxLength: steps.length })
      .map((adjustments) =>
        steps.map(({ lowerBound, upperBound }, index): AutoscaleStep => ({
          ...(lowerBound !== undefined && { lowerBound }),
          ...(upperBound !== undefined && { upperBound }),
          adjustment: adjustments[index] ?? 0,
        })),
      )
  })
const onABound = (steps: readonly AutoscaleStep[]): fc.Arbitrary<number> =>
  fc.constantFrom(
    ...steps.flatMap(({ lowerBound, upperBound }) =>
      [lowerBound, upperBound].filter((bound) => bound !== undefined),
    ),
  )

function written(steps: readonly WrittenStep[], more: Partial<WrittenPolicy> = {}): WrittenPolicy {
  return { name: 'p', steps, ...more }
}

function step(lowerBound: number | null, upperBound: number | null, adjustment = 1): WrittenStep {
  return { lowerBound, upperBound, adjustment }
}

describe('steps of a policy', () => {
  it('are found in order whatever ascending bounds they have', () => {
    fc.assert(fc.property(ascending, (steps) => assert.deepEqual(findPolicyProblems(written(steps)), [])))
  })

  it('cover their whole range: one step applies to each value inside, and none outside', () => {
    const value = ascending.chain((steps) =>
      fc.tuple(
        fc.constant(steps),
        fc.oneof(fc.double({ min: -10, max: 6_000, noNaN: true }), onABound(steps)),
      ),
    )
    fc.assert(
      fc.property(value, ([steps, at]) => {
        const holding = steps.filter(
          ({ lowerBound, upperBound }) =>
            (lowerBound === undefined || lowerBound <= at) && (upperBound === undefined || at < upperBound),
        )
        const { lowerBound: first = -Infinity } = steps[0] ?? {}
        const { upperBound: last = Infinity } = steps.at(-1) ?? {}
        assert.equal(holding.length, first <= at && at < last ? 1 : 0)
        assert.equal(stepFor(steps, at), holding[0])
      }),
    )
  })

  it('have their lower bound, and not their upper one', () => {
    const steps = [
      { upperBound: 200, adjustment: 1 },
      { lowerBound: 200, upperBound: 500, adjustment: 2 },
    ]
    const found = [-1, 0, 199.9, 200, 499.9, 500].map((at) => stepFor(steps, at)?.adjustment)
    assert.deepEqual(found, [1, 1, 1, 2, 2, undefined])
  })

  it('are found out of order wherever two of them change places', () => {
    const swapped = ascending.chain((steps) =>
      fc.tuple(fc.constant(steps), fc.nat({ max: Math.max(0, steps.length - 2) })),
    )
    fc.assert(
      fc.property(swapped, ([steps, at]) => {
        fc.pre(steps.length > 1)
        const [one, other] = [steps[at], steps[at + 1]]
        const wrong = steps.with(at, other as AutoscaleStep).with(at + 1, one as AutoscaleStep)
        assert.deepEqual(findPolicyProblems(written(wrong)), [
          { kind: 'unsorted', step: at + 1, previous: at },
        ])
      }),
    )
  })

  it('are found with a gap wherever one is taken out of the middle', () => {
    const holed = ascending.chain((steps) =>
      fc.tuple(fc.constant(steps), fc.nat({ max: Math.max(0, steps.length - 3) })),
    )
    fc.assert(
      fc.property(holed, ([steps, before]) => {
        fc.pre(steps.length > 2)
        const gone = steps[before + 1]
        const problems = findPolicyProblems(written(steps.toSpliced(before + 1, 1)))
        const from = gone?.lowerBound
        assert.deepEqual(problems, [
          { kind: 'gap', step: before + 1, previous: before, from, to: gone?.upperBound },
        ])
      }),
    )
  })

  it('are found to overlap wherever one begins before its predecessor ends', () => {
    const overlapping = ascending.chain((steps) =>
      fc.tuple(fc.constant(steps), fc.nat({ max: Math.max(0, steps.length - 2) })),
    )
    fc.assert(
      fc.property(overlapping, ([steps, before]) => {
        fc.pre(steps.length > 1)
        const { upperBound = 0, ...first } = steps[before] as AutoscaleStep
        const after = steps[before + 1]?.upperBound ?? Infinity
        fc.pre(upperBound + 1 < after)
        const longer = steps.with(before, { ...first, upperBound: upperBound + 1 })
        assert.deepEqual(findPolicyProblems(written(longer)), [
          { kind: 'overlap', step: before + 1, previous: before, from: upperBound, to: upperBound + 1 },
        ])
      }),
    )
  })
})

describe('what is wrong with a policy', () => {
  const range = { min: 0, max: 1_000_000_000 }
  const adjustments = { min: -1_000_000, max: 1_000_000 }
  const good = step(0, 10)
  const cases: [title: string, policy: WrittenPolicy, problems: PolicyProblem[]][] = [
    ['a step that is open on both sides', written([step(null, null)]), [{ kind: 'both-open', step: 0 }]],
    ['a step without bounds', written([{ adjustment: 1 }]), [{ kind: 'both-open', step: 0 }]],
    [
      'bounds that are equal',
      written([step(5, 5)]),
      [{ kind: 'lower-not-below-upper', step: 0, lowerBound: 5, upperBound: 5 }],
    ],
    [
      'bounds that are crossed',
      written([good, step(20, 10)]),
      [{ kind: 'lower-not-below-upper', step: 1, lowerBound: 20, upperBound: 10 }],
    ],
    [
      'two steps that are open below',
      written([step(null, 10), step(null, 20)]),
      [{ kind: 'overlap', step: 1, previous: 0, to: 10 }],
    ],
    [
      'two steps that are open above',
      written([step(10, null), step(20, null)]),
      [{ kind: 'overlap', step: 1, previous: 0, from: 20 }],
    ],
    [
      'steps in the wrong order with a gap between them',
      written([step(20, null), step(0, 10)]),
      [
        { kind: 'unsorted', step: 1, previous: 0 },
        { kind: 'gap', step: 0, previous: 1, from: 10, to: 20 },
      ],
    ],
    [
      'a gap of one',
      written([step(0, 10), step(11, 20)]),
      [{ kind: 'gap', step: 1, previous: 0, from: 10, to: 11 }],
    ],
    ['no steps', written([]), [{ kind: 'no-steps' }]],
    [
      'too many steps',
      written(Array.from({ length: 17 }, (_, at) => step(at, at + 1))),
      [{ kind: 'too-many-steps', count: 17, max: 16 }],
    ],
    [
      'a bound below 0',
      written([step(-1, 10)]),
      [{ kind: 'bound-out-of-range', step: 0, bound: 'lower', value: -1, ...range }],
    ],
    [
      'a bound that is too large',
      written([step(0, 1_000_000_001)]),
      [{ kind: 'bound-out-of-range', step: 0, bound: 'upper', value: 1_000_000_001, ...range }],
    ],
    [
      'a bound that is no whole number',
      written([step(0.5, 10)]),
      [{ kind: 'bound-out-of-range', step: 0, bound: 'lower', value: 0.5, ...range }],
    ],
    [
      'an adjustment that is too large',
      written([step(0, 1, 1_000_001)]),
      [{ kind: 'adjustment-out-of-range', step: 0, value: 1_000_001, ...adjustments }],
    ],
    [
      'an exact size below 0',
      written([step(0, 1, -1)], { adjustmentType: 'exact' }),
      [{ kind: 'exact-negative', step: 0, adjustment: -1 }],
    ],
    [
      'an exact size below 0, in the other word for it',
      written([step(0, 1, -1)], { adjustmentType: 'absolute' }),
      [{ kind: 'exact-negative', step: 0, adjustment: -1 }],
    ],
    [
      'an unknown metric',
      written([good], { metric: 'memory' }),
      [{ kind: 'unknown-metric', metric: 'memory' }],
    ],
    [
      'an unknown adjustment type',
      written([good], { adjustmentType: 'relative' }),
      [{ kind: 'unknown-adjustment-type', adjustmentType: 'relative' }],
    ],
    [
      'a name of 32 characters',
      written([good], { name: 'a'.repeat(32) }),
      [{ kind: 'name-too-long', length: 32, max: 31 }],
    ],
    ['a name that is none', written([good], { name: '1st' }), [{ kind: 'name-invalid', name: '1st' }]],
    [
      'everything at once',
      { name: '', metric: 'x', adjustmentType: 'y', steps: [step(3, 1), step(null, null)] },
      [
        { kind: 'name-invalid', name: '' },
        { kind: 'unknown-metric', metric: 'x' },
        { kind: 'unknown-adjustment-type', adjustmentType: 'y' },
        { kind: 'lower-not-below-upper', step: 0, lowerBound: 3, upperBound: 1 },
        { kind: 'both-open', step: 1 },
      ],
    ],
  ]
  for (const [title, policy, problems] of cases)
    it(`is told of ${title}`, () => assert.deepEqual(findPolicyProblems(policy), problems))

  it('is nothing for the longest name, the most steps and the outermost numbers', () => {
    const most = Array.from({ length: 15 }, (_, at) =>
      step(at, at + 1, at % 2 === 0 ? -1_000_000 : 1_000_000),
    )
    const policy = written([...most, step(15, 1_000_000_000)], { name: 'a'.repeat(31) })
    assert.deepEqual(findPolicyProblems(policy), [])
  })
})

describe('a policy', () => {
  it('looks at CPU and changes the size where it does not say otherwise', () => {
    assert.deepEqual(resolvePolicy(written([step(null, 5, -1)], { name: 'Out' })), {
      name: 'out',
      metric: 'cpu',
      adjustmentType: 'change',
      steps: [{ upperBound: 5, adjustment: -1 }],
    })
  })

  it('keeps what it says, absolute as exact', () => {
    const { metric, adjustmentType } = resolvePolicy(
      written([step(1, null)], { metric: 'in_flight', adjustmentType: 'absolute' }),
    )
    assert.deepEqual([metric, adjustmentType], ['in_flight', 'exact'])
  })

  const sizes: [type: AdjustmentType, base: number, adjustment: number, size: number][] = [
    ['change', 3, 2, 5],
    ['change', 3, -2, 1],
    ['change', 3, 0, 3],
    ['change', 3, -5, 0],
    ['exact', 3, 7, 7],
    ['exact', 3, 0, 0],
    ['percent', 1, 50, 2],
    ['percent', 2, 50, 3],
    ['percent', 3, 50, 5],
    ['percent', 10, 1, 11],
    ['percent', 3, 100, 6],
    ['percent', 3, 0, 3],
    ['percent', 3, -1, 2],
    ['percent', 3, -50, 2],
    ['percent', 4, -50, 2],
    ['percent', 10, -25, 8],
    ['percent', 10, -39, 7],
    ['percent', 1, -50, 0],
    ['percent', 3, -200, 0],
    ['percent', 0, 50, 0],
  ]
  for (const [type, base, adjustment, size] of sizes)
    it(`makes ${size} of ${base} by ${type} ${adjustment}`, () =>
      assert.equal(adjustedSize(type, base, adjustment), size))

  it('by percent does at least one, and never goes past the exact share when it takes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: -100, max: 1_000 }),
        (base, percent) => {
          const change = adjustedSize('percent', base, percent) - base
          const exact = (base * percent) / 100
          if (percent === 0) assert.equal(change, 0)
          else if (percent > 0) assert.ok(change >= exact && change < exact + 1 && change >= 1)
          else assert.ok(change <= -1 && (change === -1 || (change >= exact && change < exact + 1)))
        },
      ),
    )
  })
})

describe('a size', () => {
  const policy = (name: string, metric: AutoscaleMetric, ...steps: AutoscaleStep[]): AutoscalePolicy => ({
    name,
    metric,
    adjustmentType: AdjustmentType.Exact,
    steps,
  })
  const metrics = { cpu: 500, in_flight: 5, requests_per_second: 50 }

  it('is the largest of all policies that apply', () => {
    const proposal = proposeSize(
      [
        policy('a', 'cpu', { lowerBound: 500, adjustment: 3 }),
        policy('b', 'in_flight', { upperBound: 6, adjustment: 5 }),
        policy('c', 'requests_per_second', { upperBound: 51, adjustment: 4 }),
        policy('d', 'cpu', { upperBound: 500, adjustment: 9 }),
      ],
      1,
      metrics,
    )
    const step = { upperBound: 6, adjustment: 5 }
    assert.deepEqual(proposal, { size: 5, policy: 'b', metric: 'in_flight', value: 5, step })
  })

  it('is that of the first of equal ones', () => {
    const step = { upperBound: 900, adjustment: 2 }
    assert.equal(proposeSize([policy('a', 'cpu', step), policy('b', 'cpu', step)], 1, metrics)?.policy, 'a')
  })

  it('is none where no policy applies', () => {
    assert.equal(proposeSize([policy('a', 'cpu', { lowerBound: 501, adjustment: 2 })], 1, metrics), undefined)
    assert.equal(proposeSize([], 1, metrics), undefined)
  })

  it('of one more policy is never smaller', () => {
    const policies = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b'),
        metric: fc.constantFrom(...Object.values(AutoscaleMetric)),
        adjustmentType: fc.constantFrom(...Object.values(AdjustmentType)),
        steps: ascending,
      }),
      { minLength: 1, maxLength: 5 },
    )
    const values = fc.record({
      cpu: fc.nat({ max: 5_000 }),
      in_flight: fc.nat({ max: 5_000 }),
      requests_per_second: fc.nat({ max: 5_000 }),
    })
    fc.assert(
      fc.property(policies, fc.nat({ max: 50 }), values, (all, base, found) => {
        const sizeWith = (count: number) => proposeSize(all.slice(0, count), base, found)?.size ?? -1
        for (let count = 1; count <= all.length; count++) assert.ok(sizeWith(count) >= sizeWith(count - 1))
        assert.equal(
          sizeWith(all.length),
          Math.max(...all.map((each) => proposeSize([each], base, found)?.size ?? -1)),
        )
      }),
    )
  })
})
