import assert from 'node:assert/strict'
import fc from 'fast-check'
import { emptyMemory, observeService } from '../../../src/domain/autoscale/decision.ts'
import type { AutoscaleVerdict } from '../../../src/domain/autoscale/decision.ts'
import type { AutoscaleObservation } from '../../../src/domain/autoscale/observation.ts'
import { explainOutcome, explainRest } from '../../../src/domain/autoscale/explanation.ts'
import { observationsPerMetric } from '../../../src/domain/autoscale/looks.ts'
import { sizeOf, Standing, standingOf } from '../../../src/domain/autoscale/members.ts'
import { AdjustmentType, AutoscaleMetric } from '../../../src/domain/autoscale/policy.ts'
import { scaleInSettleMs } from '../../../src/domain/autoscale/shrinking.ts'
import { findPolicyProblems } from '../../../src/domain/autoscale/steps.ts'
import { instanceStates } from '../../../src/domain/instance/state.ts'

const beginMs = 1_000_000

const policy = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    metric: fc.constantFrom(...Object.values(AutoscaleMetric)),
    adjustmentType: fc.constantFrom(...Object.values(AdjustmentType)),
    low: fc.nat({ max: 500 }),
    width: fc.integer({ min: 1, max: 500 }),
    adjustments: fc.tuple(
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -3, max: 8 }),
    ),
  })
  .map(({ low, width, adjustments: [first, second, third], ...rest }) => {
    const isExact = rest.adjustmentType === AdjustmentType.Exact
    const [one, two, three] = isExact ? [first, second, third].map(Math.abs) : [first, second, third]
    const steps = [
      { upperBound: low, adjustment: one ?? 0 },
      { lowerBound: low, upperBound: low + width, adjustment: two ?? 0 },
      { lowerBound: low + width, adjustment: three ?? 0 },
    ]
    return { ...rest, steps }
  })

const configuration = fc
  .record({
    minSize: fc.integer({ min: 1, max: 4 }),
    spread: fc.nat({ max: 4 }),
    warmupMs: fc.constantFrom(0, 1_000, 5_000),
    cooldownMs: fc.constant(1_000),
    policies: fc.array(policy, { maxLength: 3 }),
  })
  .map(({ spread, ...rest }) => ({ ...rest, maxSize: rest.minSize + spread }))

const load = fc.record({
  cpu: fc.nat({ max: 1_200 }),
  in_flight: fc.nat({ max: 1_200 }),
  requests_per_second: fc.nat({ max: 1_200 }),
})
/** Most instances run: with many that do not, hardly any size would be decided on. */
const state = fc.oneof(
  { weight: 6, arbitrary: fc.constant('running' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...instanceStates) },
)
const instance = fc.record({
  state,
  createdAtMs: fc.integer({ min: beginMs - 100_000, max: beginMs }),
  startedAtMs: fc.integer({ min: beginMs - 100_000, max: beginMs }),
  startCount: fc.integer({ min: 1, max: 2 }),
  restartAttempt: fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.nat({ max: 4 }) },
  ),
})
const world = fc.record({
  configuration,
  instances: fc.array(instance, { minLength: 1, maxLength: 6 }),
  /** How far the target is from the present size. */
  targetOff: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }) },
  ),
  blockedForMs: fc.constantFrom(undefined, 5_000, 60_000),
  failedAtMs: fc.constantFrom(undefined, beginMs - 50_000),
  /** The loads, how many looks each lasts, and which instance is silent meanwhile. */
  phases: fc.array(
    fc.record({
      load,
      silent: fc.oneof(
        { weight: 4, arbitrary: fc.constant(-1) },
        { weight: 1, arbitrary: fc.nat({ max: 5 }) },
      ),
      looks: fc.integer({ min: 1, max: 25 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})
type World = typeof world extends fc.Arbitrary<infer Told> ? Told : never

function* looksAt(told: World): Generator<{ observation: AutoscaleObservation; verdict: AutoscaleVerdict }> {
  const { blockedForMs, failedAtMs } = told
  let memory = emptyMemory
  let nowMs = beginMs
  let target: number | undefined
  for (const phase of told.phases) {
    for (let look = 0; look < phase.looks; look++, nowMs += 1_000) {
      const members = told.instances.map((each, index) => {
        const member = {
          ...each,
          uuid: `uuid-${index}`,
          name: `web-${index}`,
          isMaster: index === 0,
          nodeId: 'one',
          stateSinceMs: each.createdAtMs,
        }
        const standing = standingOf(member, told.configuration, nowMs)
        const isTold = phase.silent !== index && member.state === 'running'
        return { ...member, standing, ...(isTold && { load: phase.load }) }
      })
      target ??= Math.max(0, sizeOf(members) + told.targetOff)
      const observation = {
        nowMs,
        configuration: told.configuration,
        members,
        target,
        ...(blockedForMs !== undefined && { blockedUntilMs: beginMs + blockedForMs }),
        ...(failedAtMs !== undefined && { failedAtMs }),
      }
      const verdict = observeService(memory, observation)
      memory = verdict.memory
      yield { observation, verdict }
    }
  }
}

describe('whatever an autoscaled service looks like', () => {
  it('its policies are valid', () => {
    fc.assert(
      fc.property(policy, (each) => {
        fc.pre(each.steps[0]?.upperBound !== 0)
        assert.deepEqual(findPolicyProblems(each), [])
      }),
    )
  })

  let [grown, shrunk, rested, aligned] = [0, 0, 0, 0]
  it('a new size is within the bounds and has a reason, and no instance is given back while a load is unknown', () => {
    fc.assert(
      fc.property(world, (told) => {
        for (const { observation, verdict } of looksAt(told)) {
          const { outcome, rest, memory, size } = verdict
          const { configuration: bounds, members, target, nowMs, blockedUntilMs = 0 } = observation
          assert.equal(outcome === undefined, rest !== undefined)
          assert.ok(memory.looks.length <= observationsPerMetric)
          assert.ok(memory.proposals.length <= scaleInSettleMs / 1_000 + 1)
          if (rest !== undefined) rested += 1
          if (outcome?.kind === 'align') aligned += 1
          if (outcome?.kind === 'align' || outcome?.kind === 'resize')
            assert.ok(outcome.target >= bounds.minSize && outcome.target <= bounds.maxSize)
          if (outcome?.kind === 'align' && size < outcome.target) assert.ok(nowMs >= blockedUntilMs)
          if (outcome?.kind === 'replace')
            assert.ok(outcome.failed.length > 0 && outcome.failed.every(({ uuid }) => uuid !== 'uuid-0'))
          if (outcome?.kind !== 'resize') continue
          assert.notEqual(outcome.target, target)
          if (outcome.target > target) {
            grown += 1
            // A target below min_size is raised to min_size, whatever the policies propose.
            const isRaised = target < bounds.minSize && outcome.target === bounds.minSize
            assert.ok(nowMs >= blockedUntilMs && (isRaised || outcome.decision.proposed > target))
          } else {
            shrunk += 1
            assert.ok(size === target || (size < target && nowMs < blockedUntilMs))
            for (const { standing, load: known } of members) {
              const counts = standing === Standing.Counted && known !== undefined
              assert.ok(counts || standing === Standing.Asleep || standing === Standing.Down)
            }
          }
        }
      }),
      { numRuns: 500 },
    )
    // The rules hold trivially in worlds where nothing happens. So each kind of outcome has to occur.
    for (const count of [grown, shrunk, rested, aligned]) assert.ok(count > 0, String(count))
  })

  it('what is done, or why nothing is, can be told in words', () => {
    fc.assert(
      fc.property(world, (told) => {
        for (const { verdict } of looksAt(told)) {
          const { outcome, rest } = verdict
          const words = [
            ...(outcome === undefined ? [] : [explainOutcome(outcome)]),
            ...(rest === undefined ? [] : Object.values(explainRest(rest))),
          ]
          assert.ok(words.length > 0)
          for (const text of words) {
            assert.match(text, /^[a-z]/)
            assert.doesNotMatch(text, /undefined|NaN|Infinity|\[object|\.$|  /)
          }
        }
      }),
    )
  })

  it('the same looks have the same outcomes, and no look changes its arguments', () => {
    fc.assert(
      fc.property(world, (told) => {
        const [first, second] = [[...looksAt(told)], [...looksAt(told)]]
        assert.deepEqual(first, second)
      }),
    )
  })
})
