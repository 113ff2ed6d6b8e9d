import assert from 'node:assert/strict'
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { onlyCounts, sumOfMetrics } from '../../../src/gateway/processes/metric-sum.ts'
import type { Metric } from '../../../src/gateway/processes/messages.ts'
import { RequestDurations } from '../../../src/gateway/request-durations.ts'

/** The metrics of a process that counted `requests`, as they pass the channel between processes. */
async function metricsOf(requests: number, over: { readonly age?: number } = {}): Promise<readonly Metric[]> {
  const registry = new Registry()
  const registers = [registry]
  const counter = new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['kind'], registers })
  counter.inc({ kind: 'a' }, requests)
  new Gauge({ name: 'age', help: 'Age.', aggregator: 'max', registers }).set(over.age ?? requests)
  const durations = new RequestDurations({
    name: 'durations_seconds',
    help: 'Durations.',
    labelNames: ['protocol', 'status'],
    buckets: [0.1, 1],
    registers,
  })
  for (let at = 0; at < requests; at++) durations.add('h2', 200, 0.05)
  durations.add('http/1.1', 502, 2)
  return structuredClone((await registry.getMetricsAsJSON()) as Metric[])
}

const lines = async (all: readonly (readonly Metric[])[]): Promise<readonly string[]> =>
  (await sumOfMetrics(all).metrics()).split('\n')

describe('the metrics of several processes', () => {
  it('are added up by label, or are the largest or the smallest, as their gauge says', async () => {
    const all = await lines([await metricsOf(3), await metricsOf(4, { age: 2 })])
    for (const line of [
      'requests_total{kind="a"} 7',
      'age 3',
      'durations_seconds_bucket{le="0.1",protocol="h2",status="2xx"} 7',
      'durations_seconds_bucket{le="1",protocol="http/1.1",status="5xx"} 0',
      'durations_seconds_bucket{le="+Inf",protocol="http/1.1",status="5xx"} 2',
      'durations_seconds_count{protocol="h2",status="2xx"} 7',
      'durations_seconds_sum{protocol="http/1.1",status="5xx"} 4',
      '# TYPE durations_seconds histogram',
    ])
      assert.ok(all.includes(line), `${line} is missing in\n${all.join('\n')}`)
  })

  it('count on what a process counted before its end, but show no gauge of it', async () => {
    const all = await lines([await metricsOf(1), onlyCounts(await metricsOf(5))])
    assert.ok(all.includes('requests_total{kind="a"} 6'))
    assert.ok(all.includes('age 1'))
  })

  it('of Node keep their names: memory is a sum, and the start that of the first process', async () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    const own = (await registry.getMetricsAsJSON()) as Metric[]
    const summed = (await sumOfMetrics([own, own]).getMetricsAsJSON()) as Metric[]
    assert.deepEqual(summed.map(({ name }) => name).toSorted(), own.map(({ name }) => name).toSorted())
    const value = (all: readonly Metric[], name: string): number =>
      all.find((one) => one.name === name)?.values[0]?.value ?? Number.NaN
    const memory = 'process_resident_memory_bytes'
    assert.equal(value(summed, memory), 2 * value(own, memory))
    assert.equal(value(summed, 'process_start_time_seconds'), value(own, 'process_start_time_seconds'))
  })
})
