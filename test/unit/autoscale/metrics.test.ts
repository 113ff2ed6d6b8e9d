import assert from 'node:assert/strict'
import { WorkerMetrics } from '../../../src/control/worker-metrics.ts'

describe('metrics of the observation of services', () => {
  it('tell how many services are watched, how many have an unknown load, how long a round takes and what it led to', async () => {
    const metrics = new WorkerMetrics({
      database: { pool: { max: 1, used: 0, waiting: 0 } },
      polls: () => true,
    })
    assert.match(await metrics.text(), /^roost_autoscale_watched_services 0$/m)
    metrics.autoscale.round({ durationMs: 40, services: 12, unknown: 3 })
    metrics.autoscale.round({ durationMs: 60, services: 11, unknown: 2 })
    metrics.autoscale.decided('resize')
    const text = await metrics.text()
    for (const line of [
      'roost_autoscale_watched_services 11',
      'roost_autoscale_unknown_services 2',
      'roost_autoscale_round_seconds_count 2',
      'roost_autoscale_round_seconds_sum 0.1',
      'roost_autoscale_outcomes_total{kind="resize"} 1',
    ])
      assert.ok(text.split('\n').includes(line), `${line} in\n${text}`)
  })
})
