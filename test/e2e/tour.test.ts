import assert from 'node:assert/strict'
import { request } from 'undici'
import { logOf, runInstance, viewOf, waitFor } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0

describe('the life of one instance', () => {
  let stack: Stack
  before(async () => {
    stack = await sharedStack()
  })

  it('begins with a create that returns when the application runs', async () => {
    const hello = await runInstance(stack.api, { name: 'tour', image: 'hello:latest' })
    assert.equal(hello.state, 'running')
    assert.equal(hello.start_count, 1)
    assert.equal(hello.restart_count, 0)
    assert.match(hello.image ?? '', /^hello@sha256:[0-9a-f]{64}$/)
    assert.ok((hello.boot_time_us ?? 0) > 0)
    assert.ok(hello.started_at !== undefined && hello.stopped_at === undefined)
    assert.equal(virtualMachinesOf(hello.uuid).length, 1)
  })

  it('shows what the application printed, with byte offsets', async () => {
    await until('it listens', async () => (await logOf(stack.api, 'tour')).includes('listening on 8080'), {
      limitMs: 30_000,
    })
    const log = await stack.api.one('getInstanceLogs', { object: 'tour', body: { offset: 0, limit: 5 } })
    assert.deepEqual(log.range, { start: 0, end: 5 })
    assert.equal(Buffer.from(log.output, 'base64').length, 5)
    assert.equal(log.available.start, 0)
  })

  it('tells a developer when its first socket listened', async () => {
    const { net_time_us: netTimeUs } = await until(
      'the time of the first socket is known',
      async () => {
        const view = await viewOf(stack.api, 'tour')
        return view.net_time_us !== undefined && view
      },
      { limitMs: 30_000 },
    )
    const { boot_time_us: bootTimeUs } = await viewOf(stack.api, 'tour')
    assert.ok((netTimeUs ?? 0) > (bootTimeUs ?? 0), `net ${netTimeUs} µs, boot ${bootTimeUs} µs`)
  })

  it('answers HTTP on its private address with its name', async function () {
    if (!asRoot) return this.skip()
    const { private_ip: ip } = await viewOf(stack.api, 'tour')
    const { statusCode, body } = await request(`http://${ip}:8080/`, { reset: true })
    assert.equal(statusCode, 200)
    assert.match(await body.text(), /Hello from tour/)
  })

  it('has metrics in JSON and for Prometheus', async () => {
    const metrics = await stack.api.one('getInstanceMetrics', { object: 'tour' })
    assert.ok(metrics.rss_bytes > 10_000_000, `rss_bytes ${metrics.rss_bytes}`)
    assert.ok(metrics.cpu_time_ms > 0)
    if (asRoot) assert.ok(metrics.rx_bytes > 0 && metrics.tx_bytes > 0)
    const { body } = await request(`${stack.apiUrl}/v1/instances/tour/metrics`, {
      headers: { authorization: `Bearer ${stack.token}` },
    })
    assert.match(await body.text(), /^instance_state\{instance_uuid="[0-9a-f-]{36}"\} 2$/m)
  })

  it('ends with a stop by the user: reason 15, no VM, nothing resident', async () => {
    const stopping = await stack.api.one('stopInstances', { object: 'tour' })
    assert.equal(stopping.previous_state, 'running')
    const stopped = await waitFor(stack.api, 'tour', 'stopped')
    assert.equal(stopped.stop_reason, 15)
    assert.ok(stopped.exit_code !== undefined)
    assert.equal((stopped.stop_code ?? 0) % 256, 0)
    assert.equal(stopped.rss_bytes, 0)
    assert.ok((stopped.cpu_time_ms ?? 0) > 0)
    assert.equal(virtualMachinesOf(stopped.uuid).length, 0)
  })

  it('goes on with a start, whose counters and log continue', async () => {
    const before = await viewOf(stack.api, 'tour')
    const logBefore = await logOf(stack.api, 'tour')
    const started = await stack.api.one('startInstances', {
      object: 'tour',
      body: { wait_timeout_ms: 60_000 },
    })
    assert.equal(started.previous_state, 'stopped')
    const again = await waitFor(stack.api, 'tour', 'running')
    assert.equal(again.start_count, 2)
    assert.equal(again.restart_count, 0)
    assert.equal(again.stop_reason, undefined)
    assert.ok((again.cpu_time_ms ?? 0) >= (before.cpu_time_ms ?? 0))
    await until('it listens again', async () => (await logOf(stack.api, 'tour')).length > logBefore.length, {
      limitMs: 30_000,
    })
    assert.ok((await logOf(stack.api, 'tour')).startsWith(logBefore))
  })

  it('is over with a delete: name and identifier are free, the VM is gone', async () => {
    const { uuid } = await viewOf(stack.api, 'tour')
    const deleted = await stack.api.one('deleteInstances', { object: 'tour' })
    assert.equal(deleted.previous_state, 'running')
    const answer = await stack.api.attempt('getInstances', { object: uuid })
    assert.equal(answer.status, 'error')
    await until('its VM is gone', () => virtualMachinesOf(uuid).length === 0, { limitMs: 30_000 })
    const next = await stack.api.one('createInstances', { body: { name: 'tour', image: 'hello' } })
    assert.notEqual(next.uuid, uuid)
    await stack.api.one('deleteInstances', { object: 'tour' })
  })
})
