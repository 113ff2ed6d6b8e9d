import assert from 'node:assert/strict'
import {
  longestSampleMs,
  noReadings,
  readSamples,
  shortestSampleMs,
} from '../../../activities/autoscale/samples.ts'
import type { HostLoads, LoadCounters } from '../../../src/domain/host/api-protocol.ts'

/** An answer about one instance. */
function answer(atMs: number, cpuTimeMs: number, more: Partial<LoadCounters> = {}): HostLoads {
  return { atMs, loads: { a: { cpuTimeMs, inFlight: 0, handledPerSecond: 0, ...more } } }
}

/** What is known of the load of instance `a` after each of these answers. */
function loads(...answers: readonly HostLoads[]): unknown[] {
  let readings = noReadings
  return answers.map((each) => {
    const read = readSamples(readings, each)
    readings = read.readings
    return read.loads.get('a')?.cpu
  })
}

describe('samples of loads', () => {
  it('are the CPU time between two answers, in thousandths of a core', () => {
    assert.deepEqual(loads(answer(1_000, 50), answer(2_000, 300), answer(4_000, 4_300)), [
      undefined,
      250,
      2_000,
    ])
  })

  it('take the requests in flight and the requests per second from the answer as they are', () => {
    const { readings } = readSamples(noReadings, answer(1_000, 50))
    const more = { inFlight: 7, handledPerSecond: 12.5 }
    assert.deepEqual(readSamples(readings, answer(2_000, 60, more)).loads.get('a'), {
      cpu: 10,
      in_flight: 7,
      requests_per_second: 12.5,
    })
  })

  it('begin anew when the clock of the host began anew', () => {
    assert.deepEqual(loads(answer(90_000, 5_000), answer(1_000, 6_000), answer(2_000, 6_100)), [
      undefined,
      undefined,
      100,
    ])
  })

  it('are unknown when the counter went back, and known again from the next answer on', () => {
    assert.deepEqual(loads(answer(1_000, 5_000), answer(2_000, 4_000), answer(3_000, 4_200)), [
      undefined,
      undefined,
      200,
    ])
  })

  it('are unknown over a gap between two answers', () => {
    const after = 1_000 + longestSampleMs
    assert.deepEqual(loads(answer(1_000, 0), answer(after, 5_000)), [undefined, 1_000])
    assert.deepEqual(loads(answer(1_000, 0), answer(after + 1, 5_000)), [undefined, undefined])
  })

  it('stay as they are when two answers follow each other closely', () => {
    const soon = 2_000 + shortestSampleMs - 1
    assert.deepEqual(loads(answer(1_000, 0), answer(2_000, 100), answer(soon, 1_000), answer(3_000, 1_100)), [
      undefined,
      100,
      100,
      1_000,
    ])
  })

  it('are unknown when an answer leaves the instance out; the next one is compared with the last that had it, if recent', () => {
    const without = { atMs: 2_000, loads: {} }
    assert.deepEqual(loads(answer(1_000, 0), without, answer(3_000, 400)), [undefined, undefined, 200])
    assert.deepEqual(loads(answer(1_000, 0), without, answer(2_000 + longestSampleMs, 400)), [
      undefined,
      undefined,
      undefined,
    ])
  })

  it('ignore values that are not finite numbers of at least 0', () => {
    const wrong = [
      Number.NaN,
      -1,
      Number.POSITIVE_INFINITY,
      null as unknown as number,
      'x' as unknown as number,
    ]
    for (const value of wrong) {
      assert.deepEqual(loads(answer(1_000, 0), answer(2_000, value)), [undefined, undefined])
      assert.deepEqual(loads(answer(1_000, 0), answer(2_000, 5, { inFlight: value })), [undefined, undefined])
      assert.deepEqual(loads(answer(1_000, 0), answer(value, 5)), [undefined, undefined])
    }
  })

  it('forget instances that no answer mentions any more', () => {
    const { readings } = readSamples(noReadings, answer(1_000, 0))
    assert.equal(readSamples(readings, { atMs: 1_001 + longestSampleMs, loads: {} }).readings.size, 0)
  })
})
