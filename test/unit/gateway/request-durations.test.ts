import assert from 'node:assert/strict'
import { Histogram, Registry } from 'prom-client'
import { RequestDurations } from '../../../src/gateway/request-durations.ts'

const configuration = {
  name: 'durations_seconds',
  help: 'Durations.',
  labelNames: ['protocol', 'status'] as const,
  buckets: [0.001, 0.1, 2.5],
}

/** Requests by protocol, status and seconds. Some last exactly as long as a bucket, or longer than all. */
const requests = [
  ['h2', 200, 0.001],
  ['h2', 204, 0.0010001],
  ['http/1.1', 200, 0.1],
  ['http/1.1', 200, 0],
  ['http/1.1', 499, 3],
  ['http/1.1', 404, 2.5],
  ['http/1.1', 502, 1_000],
] as const

describe('the durations of requests', () => {
  it('are shown as the histogram of the library shows them', async () => {
    const ours = new Registry()
    const theirs = new Registry()
    const durations = new RequestDurations({
      ...configuration,
      labelNames: ['protocol', 'status'],
      registers: [ours],
    })
    const histogram = new Histogram({ ...configuration, registers: [theirs] })
    for (const [protocol, status, seconds] of requests) {
      durations.add(protocol, status, seconds)
      const shown = status === 499 ? '499' : `${Math.floor(status / 100)}xx`
      histogram.observe({ protocol, status: shown }, seconds)
    }
    const lines = async (registry: Registry): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').toSorted()
    assert.deepEqual(await lines(ours), await lines(theirs))
  })
})
