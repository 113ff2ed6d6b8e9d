import { strict as assert } from 'node:assert'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'

const usage = {
  rssBytes: 5_000_000,
  cpuTimeMs: 1_234,
  rxBytes: 1,
  rxPackets: 2,
  txBytes: 3,
  txPackets: 4,
  connections: 5,
  requests: 6,
  queued: 7,
  handled: 8,
}

describe('reading instances', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi({ nowMs: () => nowMs })
  })
  after(() => api.close())
  let nowMs: number
  beforeEach(async () => {
    nowMs = Date.now()
    resetFaults(api.control)
    delete api.nodes.fails
    api.nodes.calls.length = 0
    user = await api.addUser()
  })

  const make = async (name: string, more: object = {}) =>
    (await user.api.one('createInstances', { body: { image: 'hello', name, ...more } })).uuid
  const names = (entries: readonly { readonly name?: string }[]) => entries.map((entry) => entry.name)

  describe('status', () => {
    it('shows all without identifiers, in the order of creation and without a status each', async () => {
      await user.api.call('createInstances', {
        body: [
          { image: 'hello', name: 'b' },
          { image: 'hello', name: 'a' },
        ],
      })
      const all = await user.api.call('getInstances')
      assert.deepEqual(names(all), ['b', 'a'])
      assert.ok(all.every((entry) => !('status' in entry)))
      assert.deepEqual(names(await user.api.call('getInstances', { body: {} })), ['b', 'a'])
      assert.deepEqual(names(await user.api.call('getInstances', { body: [] })), ['b', 'a'])
    })

    it('takes identifiers by body and by lists in the query, and keeps their order', async () => {
      const uuid = await make('a')
      await make('b')
      const inputs = [
        { body: [{ name: 'b' }, { uuid }] },
        { query: { name: 'b,a' } },
        {
          body: [
            { name: 'b', uuid: '' },
            { uuid, name: '' },
          ],
        },
      ]
      for (const input of inputs) {
        const entries = await user.api.call('getInstances', input)
        assert.deepEqual(names(entries), ['b', 'a'])
        assert.ok(entries.every((entry) => entry.status === 'success'))
      }
      const sent = await api.send({ token: user.token, path: `/v1/instances?name=b&uuid=${uuid}&name=B` })
      assert.deepEqual(names(sent.json.data.instances), ['b', 'a', 'b'])
    })

    it('names what it does not find as the request named it', async () => {
      await make('a')
      const answer = await user.api.attempt('getInstances', { body: [{ name: 'a' }, { name: 'nobody' }] })
      assert.equal(answer.status, 'partial_success')
      assert.deepEqual(answer.entries[1], {
        status: 'error',
        name: 'nobody',
        message: "No instance with name 'nobody'",
        error: 8,
      })
    })

    it('leaves everything but the identity out without details', async () => {
      const uuid = await make('a')
      assert.deepEqual(await user.api.call('getInstances', { query: { details: 'false' } }), [
        { uuid, name: 'a' },
      ])
    })

    it('counts the present run into the uptime', async () => {
      const uuid = await make('a', { autostart: true })
      nowMs += 90_000
      const seen = await user.api.one('getInstances', { object: uuid })
      assert.ok((seen.uptime_ms ?? 0) >= 89_000, `${seen.uptime_ms}`)
      assert.ok(!('stopped_at' in seen) && !('stop_reason' in seen))
    })

    it('counts the present run into the uptime until it has ended, also while it drains and stops', async () => {
      const uuid = await make('a', { autostart: true })
      const startedAtMs = nowMs - 90_000
      for (const [state, uptimeMs] of [
        ['running', 90_005],
        ['draining', 90_005],
        ['stopping', 90_005],
        ['stopped', 5],
      ] as const) {
        await api.control.record(uuid, { state, startedAtMs, uptimeMs: 5 })
        assert.equal((await user.api.one('getInstances', { object: uuid })).uptime_ms, uptimeMs, state)
      }
    })

    it('shows how a stop came about until the next start', async () => {
      const uuid = await make('a', { autostart: true })
      await api.control.record(uuid, {
        state: 'stopped',
        stoppedAtMs: nowMs,
        stopReason: 1,
        stopCode: 32_517,
        restartAttempt: 2,
        restartNextAtMs: nowMs + 10_000,
      })
      const crashed = await user.api.one('getInstances', { object: uuid })
      assert.deepEqual([crashed.stop_reason, crashed.stop_code], [1, 32_517])
      assert.equal(crashed.restart?.attempt, 2)
      assert.match(crashed.restart?.next_at ?? '', /Z$/)
      await user.api.one('startInstances', { object: uuid })
      const running = await user.api.one('getInstances', { object: uuid })
      assert.ok(!('stop_reason' in running) && !('stop_code' in running))
    })

    it('shows inner start times to developers only', async () => {
      const developer = await api.addUser({ developer: true })
      const body = { image: 'hello', name: 'a', autostart: true }
      await developer.api.one('createInstances', { body })
      await user.api.one('createInstances', { body })
      const seen = await developer.api.one('getInstances', { object: 'a' })
      assert.deepEqual([seen.vmm_start_time_us, seen.net_time_us], [1, 20_000])
      const plain = await user.api.one('getInstances', { object: 'a' })
      assert.ok(!('vmm_start_time_us' in plain) && !('net_time_us' in plain))
      const text = await api.send({ token: user.token, path: '/v1/instances/metrics' })
      assert.doesNotMatch(text.text, /instance_net_time_s\{/)
    })

    it('adds metrics where asked, by one call to each host', async () => {
      const uuid = await make('a')
      await make('b')
      api.nodes.usage.set(uuid, usage)
      const [a, b] = await user.api.call('getInstances', { query: { metrics: 'true' } })
      assert.deepEqual(
        [a?.rss_bytes, a?.cpu_time_ms, a?.network_interfaces?.[0]?.rx_bytes],
        [5_000_000, 1_234, 1],
      )
      assert.deepEqual([a?.nconns, a?.nreqs, a?.nqueued, a?.ntotal], [5, 6, 7, 8])
      assert.deepEqual([b?.nconns, b?.nreqs, b?.nqueued, b?.ntotal], [0, 0, 0, 0])
      assert.equal(b?.rss_bytes, 0)
      assert.deepEqual(api.nodes.calls, ['usage of 2'])
    })

    it('shows the rest where a host does not answer', async () => {
      await make('a')
      api.nodes.fails = new NodeUnavailable('away')
      const seen = await user.api.one('getInstances', { object: 'a', query: { metrics: 'true' } })
      assert.ok(!('rss_bytes' in seen))
    })
  })

  describe('list', () => {
    it('selects any of several states', async () => {
      await make('a')
      await make('b', { autostart: true })
      const list = async (input: object) => names(await user.api.call('listInstances', input))
      assert.deepEqual(await list({}), ['a', 'b'])
      assert.deepEqual(await list({ body: { state: 'running' } }), ['b'])
      assert.deepEqual(await list({ body: [{ state: 'running' }, { state: 'stopped' }] }), ['a', 'b'])
      assert.deepEqual(await list({ query: { state: 'stopped,draining' } }), ['a'])
      assert.deepEqual(await list({ body: [{ state: 'standby' }] }), [])
    })

    for (const id of ['listInstances', 'getInstances'] as const) {
      it(`pages through ${id} by the last entry and by a number of entries`, async () => {
        const all: string[] = []
        for (const name of ['a', 'b', 'c', 'd', 'e']) all.push(await make(name))
        const page = async (query: Record<string, string>) => names(await user.api.call(id, { query }))
        assert.deepEqual(await page({ count: '2' }), ['a', 'b'])
        assert.deepEqual(await page({ count: '2', from: all[1]! }), ['c', 'd'])
        assert.deepEqual(await page({ count: '2', from: all[3]! }), ['e'])
        assert.deepEqual(await page({ count: '2', from: '3' }), ['d', 'e'])
        assert.deepEqual(await page({ from: all[4]! }), [])
        const unknown = await user.api.attempt(id, {
          query: { from: '11111111-1111-4111-8111-111111111111' },
        })
        assert.equal(unknown.httpStatus, 400)
      })
    }
  })

  describe('log', () => {
    it('passes the window on and answers what the host has', async () => {
      const uuid = await make('a')
      const window = {
        availableStart: 10,
        availableEnd: 15,
        rangeStart: 12,
        rangeEnd: 15,
        outputBase64: 'YWJj',
      }
      api.nodes.logs.set(uuid, window)
      const log = await user.api.one('getInstanceLogs', { body: [{ name: 'a', offset: -3, limit: 16_383 }] })
      assert.deepEqual(api.nodes.calls, ['log -3 16383'])
      assert.deepEqual(log, {
        status: 'success',
        uuid,
        name: 'a',
        output: 'YWJj',
        available: { start: 10, end: 15 },
        range: { start: 12, end: 15 },
      })
    })

    it('has the documented defaults and cap', async () => {
      await make('a')
      await user.api.one('getInstanceLogs', { object: 'a' })
      await user.api.one('getInstanceLogs', { object: 'a', query: { limit: '1000000', offset: '0' } })
      assert.deepEqual(api.nodes.calls, ['log -4096 4096', 'log 0 65536'])
    })

    it('fails for the object alone where the host does not answer', async () => {
      await make('a')
      api.nodes.fails = new NodeUnavailable('away')
      const answer = await user.api.attempt('getInstanceLogs', { object: 'a' })
      assert.partialDeepStrictEqual(answer.entries, [{ name: 'a', state: 'stopped', error: 10 }])
    })
  })

  describe('usage', () => {
    const counters = {
      rxBytes: 1,
      rxPackets: 2,
      txBytes: 3,
      txPackets: 4,
      handled: 5,
      wakes: 6,
      inFlightMs: 9,
    }
    const stepAt = (atMs: number) => ({ ...counters, atMs, seenMs: 5_000, rssBytes: 7, cpuTimeMs: 8 })

    it('has the steps that the host knows, within the wanted time', async () => {
      const uuid = await make('a')
      const nowMs = Math.floor(Date.now() / 300_000) * 300_000
      api.nodes.histories.set(uuid, [stepAt(nowMs - 1_200_000), stepAt(nowMs)])
      const entry = await user.api.one('getInstanceUsage', { object: 'a', query: { step: '5m', limit: '2' } })
      assert.deepEqual(api.nodes.calls, ['history by 5m'])
      assert.equal(entry.step, '5m')
      assert.equal(entry.usage.length, 1)
      assert.partialDeepStrictEqual(entry.usage[0], {
        seen_ms: 5_000,
        cpu_time_ms: 8,
        rss_bytes: 7,
        nrequests: 5,
        nwakes: 6,
        in_flight_ms: 9,
      })
      assert.equal(new Date(entry.usage[0]?.at ?? '').getTime(), nowMs)
    })

    it('is bounded over all instances of a request, and says so', async () => {
      await make('a')
      await make('b')
      const both = { body: [{ name: 'a', step: '5m' as const }, { name: 'b' }] }
      const answer = await user.api.attempt('getInstanceUsage', both)
      assert.equal(answer.httpStatus, 400)
      assert.deepEqual(api.nodes.calls, [])
    })

    it('fails for the object alone where the host does not answer', async () => {
      await make('a')
      api.nodes.fails = new NodeUnavailable('away')
      const answer = await user.api.attempt('getInstanceUsage', { object: 'a' })
      assert.partialDeepStrictEqual(answer.entries, [{ name: 'a', error: 10 }])
    })
  })

  describe('metrics', () => {
    const metrics = (accept?: string, path = '/v1/instances/metrics') =>
      api.send({ token: user.token, path, headers: accept === undefined ? {} : { accept } })

    for (const accept of [undefined, '*/*', 'text/plain', 'application/openmetrics-text, */*;q=0.1']) {
      it(`are Prometheus text with Accept: ${accept}`, async () => {
        const uuid = await make('a', { autostart: true })
        api.nodes.usage.set(uuid, usage)
        const { headers, text } = await metrics(accept)
        assert.match(String(headers['content-type']), /^text\/plain; version=0.0.4/)
        const blocks = text.trimEnd().split('\n\n')
        assert.equal(blocks.length, 23)
        for (const block of blocks) {
          assert.match(
            block,
            /^# HELP (instance_\w+) .+\n# TYPE \1 (gauge|counter)(\n\1\{instance_uuid="[0-9a-f-]{36}"[^}]*\} [\d.]+)*$/,
          )
        }
        assert.ok(text.includes(`instance_state{instance_uuid="${uuid}"} 2\n`))
        assert.ok(text.includes(`instance_boot_time_s{instance_uuid="${uuid}"} 0.012345\n`))
        assert.ok(text.includes(`instance_cpu_time_s{instance_uuid="${uuid}"} 1.234\n`))
        const load = { nconns: 5, nreqs: 6, nqueued: 7, ntotal: 8 }
        for (const [name, value] of Object.entries(load)) {
          assert.ok(text.includes(`instance_${name}{instance_uuid="${uuid}"} ${value}\n`), name)
        }
      })
    }

    it('are JSON where JSON is asked for', async () => {
      const uuid = await make('a')
      api.nodes.usage.set(uuid, usage)
      const { json } = await metrics('application/json')
      assert.partialDeepStrictEqual(json.data.instances, [
        { uuid, name: 'a', state: 'stopped', rx_packets: 2, nconns: 5, nreqs: 6, nqueued: 7, ntotal: 8 },
      ])
    })

    it('leave a metric out if its host does not answer, because a counter must not fall to 0', async () => {
      await make('a')
      api.nodes.fails = new NodeUnavailable('away')
      const { text } = await metrics()
      assert.match(text, /instance_state\{/)
      assert.doesNotMatch(text, /instance_rx_bytes\{/)
      const answer = await user.api.attempt('getInstanceMetrics')
      assert.partialDeepStrictEqual(answer.entries, [{ name: 'a', error: 10 }])
    })

    it('say in the envelope that a named instance does not exist', async () => {
      const { json } = await metrics(undefined, '/v1/instances/nobody/metrics')
      assert.equal(json.data.instances[0].error, 8)
    })
  })
})
