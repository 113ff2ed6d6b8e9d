import assert from 'node:assert/strict'
import { recordedMs, tryAutoscale } from '../../../src/domain/autoscale/trial.ts'
import type { Trial, TrialResult } from '../../../src/domain/autoscale/trial.ts'
import type { AutoscaleConfiguration, AutoscalePolicy } from '../../../src/domain/autoscale/policy.ts'
import type { StepUsage } from '../../../src/domain/instance/usage-history.ts'

const stepMs = 5_000
const beginMs = 1_700_000_000_000

/** A policy that wants one more from `upper` on and one fewer below `lower`. */
function between(
  metric: AutoscalePolicy['metric'],
  { lower, upper }: { readonly lower: number; readonly upper: number },
): AutoscalePolicy {
  const steps = [
    { upperBound: lower, adjustment: -1 },
    { lowerBound: lower, upperBound: upper, adjustment: 0 },
    { lowerBound: upper, adjustment: 1 },
  ]
  return { name: metric.replaceAll('_', '-'), metric, adjustmentType: 'change', steps }
}

function configured(...policies: readonly AutoscalePolicy[]): AutoscaleConfiguration {
  return { minSize: 1, maxSize: 8, warmupMs: 1_000, cooldownMs: 1_000, policies }
}

/** A step in which `ran` instances used so much together. */
function step(index: number, used: { ran?: number; millicores?: number; perS?: number; inFlight?: number }) {
  const { ran = 1, millicores = 0, perS = 0, inFlight = 0 } = used
  return {
    atMs: beginMs + index * stepMs,
    seenMs: ran * stepMs,
    rssBytes: 1,
    cpuTimeMs: (millicores / 1_000) * stepMs,
    rxBytes: 0,
    rxPackets: 0,
    txBytes: 0,
    txPackets: 0,
    handled: (perS * stepMs) / 1_000,
    wakes: 0,
    inFlightMs: inFlight * stepMs,
  } satisfies StepUsage
}

const minutes = (from: number, to: number, used: Parameters<typeof step>[1]) =>
  Array.from({ length: (to - from) * 12 }, (_, index) => step(from * 12 + index, used))

function played(trial: Pick<Trial, 'steps' | 'configuration'> & Partial<Trial>): TrialResult {
  const steps = tryAutoscale({ stepMs, vcpus: 1, bootMs: 1_500, ...trial })
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
  }
}

describe('a trial of autoscale on a recorded load', () => {
  const byProcessor = configured(between('cpu', { lower: 300, upper: 700 }))

  it('has the size that the policy wants at each time, beside what really ran', () => {
    const steps = [
      ...minutes(0, 5, { ran: 2, millicores: 200 }),
      ...minutes(5, 10, { ran: 2, millicores: 1_800 }),
    ]
    const {
      steps: shown,
      report,
      decisions,
      ranInstanceSeconds,
    } = played({ steps, configuration: byProcessor })
    assert.equal(shown.length, steps.length)
    assert.deepEqual([shown[0]?.atMs, shown.at(-1)?.atMs], [beginMs, beginMs + 599_000 - 4_000])
    assert.deepEqual([shown[59]?.size, shown[59]?.ran], [1, 2])
    assert.equal(shown.at(-1)?.size, 3)
    assert.deepEqual(shown.at(-1)?.metrics?.cpu, 600)
    assert.deepEqual([report.smallestSize, report.largestSize, report.resizes], [1, 3, 2])
    assert.equal(ranInstanceSeconds, 1_200)
    assert.equal(decisions.length, 2)
    assert.ok(decisions.every(({ atMs, what }) => atMs > beginMs + 300_000 && /7|9/.test(what)))
  })

  it('takes each metric as it was recorded, and that of its policy alone', () => {
    const steps = minutes(0, 5, { millicores: 900, perS: 40, inFlight: 9 })
    const sizeBy = (policy: AutoscalePolicy) =>
      played({ steps, configuration: configured(policy) }).report.largestSize
    assert.equal(sizeBy(between('requests_per_second', { lower: 5, upper: 11 })), 4)
    assert.equal(sizeBy(between('in_flight', { lower: 1, upper: 100 })), 1)
    assert.equal(sizeBy(between('in_flight', { lower: 1, upper: 2 })), 5)
  })

  it('takes a gap for a time without load', () => {
    const steps = [
      ...minutes(0, 2, { millicores: 2_000, ran: 3 }),
      ...minutes(8, 9, { millicores: 2_000, ran: 3 }),
    ]
    const { steps: shown } = played({ steps, configuration: byProcessor })
    assert.equal(recordedMs({ steps, stepMs }), 540_000)
    assert.equal(shown.length, 108)
    assert.equal(shown[23]?.size, 3)
    assert.deepEqual([shown[90]?.size, shown[90]?.ran], [1, 0])
  })

  it('says for how long the instances that ran may have been asked for more', () => {
    const busy = minutes(0, 1, { ran: 2, millicores: 1_950 })
    const steps = [...busy, ...minutes(1, 2, { ran: 3, millicores: 1_950 })]
    assert.equal(played({ steps, configuration: byProcessor }).saturatedMs, 60_000)
    assert.equal(played({ steps, configuration: byProcessor, vcpus: 2 }).saturatedMs, 0)
  })
})
