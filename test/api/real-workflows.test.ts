import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createControlActivities } from '../../activities/control-activities.ts'
import { createInstanceControl } from '../../src/control/temporal-instance-control.ts'
import { HostFailure } from '../../src/domain/instance/host-work.ts'
import { instanceWorkflowId } from '../../workflows/instance/messages.ts'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { FakeHosts } from '../support/fake-host.ts'
import { runWorkers, startDevServer } from '../support/temporal.ts'
import type { RunningWorkers } from '../support/temporal.ts'
import { until } from '../support/until.ts'

describe('instances with their workflows', () => {
  let env: TestWorkflowEnvironment
  let api: TestApi
  let user: TestUser
  let workers: RunningWorkers
  const hosts = new FakeHosts()
  before(async function () {
    this.timeout(60_000)
    env = await startDevServer()
    api = await startTestApi({ control: createInstanceControl(env.client) })
    workers = await runWorkers(env, {
      control: createControlActivities({ database: api.database }),
      hosts: { local: hosts.activities },
    })
  })
  after(async function () {
    this.timeout(30_000)
    await workers.stop()
    await api.close()
    await env.teardown()
  })
  beforeEach(async () => {
    hosts.behaviour = {}
    user = await api.addUser()
  })

  const create = (more: object = {}) =>
    user.api.one('createInstances', { body: { image: 'hello', name: 'a', ...more } })
  const view = () => user.api.one('getInstances', { object: 'a' })
  const wait = (state: string) =>
    user.api.one('waitInstances', { body: [{ name: 'a', state, timeout_ms: 15_000 }] })

  it('run from creation to deletion, and every answer is what the next request sees', async () => {
    const created = await create()
    assert.equal(created.state, 'stopped')
    const started = await user.api.one('startInstances', { body: [{ name: 'a', wait_timeout_ms: 15_000 }] })
    assert.deepEqual([started.state, started.previous_state], ['running', 'stopped'])
    const running = await view()
    assert.deepEqual([running.state, running.start_count, running.boot_time_us], ['running', 1, 30_000])
    const stopping = await user.api.one('stopInstances', { body: [{ name: 'a', force: false }] })
    assert.equal(stopping.previous_state, 'running')
    assert.ok(['stopping', 'stopped'].includes(stopping.state))
    assert.ok(['stopping', 'stopped'].includes((await view()).state ?? ''))
    await wait('stopped')
    const stopped = await view()
    assert.deepEqual([stopped.stop_reason, stopped.exit_code], [15, 0])
    await user.api.one('deleteInstances', { object: 'a' })
    assert.deepEqual(await user.api.call('listInstances'), [])
    await create()
  })

  it('start right after creation, and count a forced stop as such', async () => {
    const created = await create({ autostart: true, wait_timeout_ms: 15_000 })
    assert.deepEqual([created.state, created.boot_time_us], ['running', 30_000])
    await user.api.one('stopInstances', { object: 'a', body: { force: true } })
    await wait('stopped')
    const stopped = await view()
    assert.equal(stopped.stop_reason, 28)
    assert.ok(!('exit_code' in stopped) && !('stop_code' in stopped))
  })

  it('do what was asked last if a start comes while a stop is under way', async () => {
    const gate = Promise.withResolvers<void>()
    hosts.behaviour = { stopGate: (boot) => (boot === 1 ? gate.promise : undefined) }
    await create({ autostart: true, wait_timeout_ms: 15_000 })
    await user.api.one('stopInstances', { object: 'a' })
    assert.equal((await view()).state, 'stopping')
    const started = await user.api.one('startInstances', { object: 'a' })
    assert.deepEqual([started.state, started.previous_state], ['stopping', 'stopping'])
    const waiting = wait('running')
    gate.resolve()
    await waiting
    assert.equal((await view()).start_count, 2)
  })

  it('show the sequence of restarts, and end it with a stop', async () => {
    hosts.behaviour = { endOf: () => ({ exitCode: 1 }) }
    await create({ autostart: true, restart_policy: 'on-failure' })
    // `next_at` is present only while a restart is waited for. The first restart is without a wait.
    const crashed = await until(
      'the second restart is due',
      async () => {
        const seen = await view()
        return (seen.restart?.attempt ?? 0) >= 1 && seen.restart?.next_at !== undefined && seen
      },
      { limitMs: 15_000 },
    )
    assert.equal(crashed.exit_code, 1)
    assert.match(crashed.restart?.next_at ?? '', /Z$/)
    assert.equal((await user.api.one('getQuotas')).used.live_instances, 1)
    await user.api.one('stopInstances', { object: 'a' })
    const ended = await view()
    assert.ok(!('restart' in ended), JSON.stringify(ended.restart))
    assert.equal((await user.api.one('getQuotas')).used.live_instances, 0)
  })

  it('with delete-on-stop are deleted after their stop, with the service that was made with them', async () => {
    const { uuid, service_group } = await create({
      autostart: true,
      wait_timeout_ms: 15_000,
      features: ['delete-on-stop'],
      service_group: { services: [{ port: 443 }] },
    })
    const waiting = user.api.attempt('waitInstances', {
      body: { uuid, state: 'stopped', timeout_ms: 15_000 },
    })
    await user.api.one('stopInstances', { object: 'a' })
    await waiting
    const gone = user.api.attempt('waitInstances', { body: { uuid, state: 'running', timeout_ms: 15_000 } })
    assert.partialDeepStrictEqual((await gone).entries, [{ uuid, error: 8 }])
    const service = await user.api.attempt('getServices', { object: service_group!.uuid })
    assert.partialDeepStrictEqual(service.entries, [{ uuid: service_group!.uuid, error: 8 }])
  })

  it('go on from their row if somebody terminated their workflow', async () => {
    const { uuid } = await create({ autostart: true, wait_timeout_ms: 15_000 })
    const terminate = () => env.client.workflow.getHandle(instanceWorkflowId(uuid)).terminate('by hand')
    await terminate()
    await user.api.one('stopInstances', { object: 'a' })
    await wait('stopped')
    const { boot_time_us, start_count, stop_reason, exit_code } = await view()
    assert.deepEqual([boot_time_us, start_count, stop_reason, exit_code], [30_000, 1, 15, 0])
    await terminate()
    await user.api.one('startInstances', { body: [{ name: 'a', wait_timeout_ms: 15_000 }] })
    const again = await view()
    assert.deepEqual([again.state, again.start_count], ['running', 2])
    await terminate()
    await user.api.one('startInstances', { body: [{ name: 'a', wait_timeout_ms: 15_000 }] })
    await wait('running')
    assert.equal((await view()).start_count, 2)
    assert.deepEqual(hosts.of(uuid).overlaps, [])
    await terminate()
    await user.api.one('deleteInstances', { object: 'a' })
    await env.client.workflow.getHandle(instanceWorkflowId(uuid)).result()
    assert.equal(hosts.of(uuid).calls.at(-1)?.call, 'remove')
    assert.deepEqual(hosts.of(uuid).running, new Set())
  })

  it('say why a start failed for good', async () => {
    hosts.behaviour = { failureOf: () => HostFailure.ImageUnusable }
    const answer = await user.api.attempt('createInstances', {
      body: { image: 'hello', name: 'a', autostart: true, wait_timeout_ms: 15_000 },
    })
    assert.partialDeepStrictEqual(answer.entries, [{ name: 'a', state: 'stopped', error: 10 }])
  })

  it('say with the code of quotas that their image takes too much of the host for their account', async () => {
    hosts.behaviour = { failureOf: () => HostFailure.QuotaExceeded }
    const call = { image: 'hello', name: 'a', autostart: true, wait_timeout_ms: 15_000 }
    const { entries } = await user.api.attempt('createInstances', { body: call })
    assert.partialDeepStrictEqual(entries, [{ name: 'a', state: 'stopped', error: 19 }])
  })

  it('tell in the words of the host that it is full, if it refuses a start that the rows permitted', async () => {
    const call = { image: 'hello', name: 'a', autostart: true, wait_timeout_ms: 15_000 }
    const again = [{ name: 'a', wait_timeout_ms: 15_000 }]
    // Each of the two starts tries three boots, which all fail. From boot 7 on the host has room.
    hosts.behaviour = { failureOf: (boot) => (boot <= 6 ? HostFailure.HostFull : undefined) }
    const created = await user.api.attempt('createInstances', { body: call })
    const started = await user.api.attempt('startInstances', { body: again })
    for (const { entries } of [created, started]) {
      assert.partialDeepStrictEqual(entries, [{ name: 'a', state: 'stopped', error: 9 }])
      assert.match(JSON.stringify(entries), /"Instance 'a' could not be started: /)
    }
    await user.api.one('startInstances', { body: again })
  })

  it('can be started and stopped by many requests at once, without two VMs at a time', async () => {
    await create({ autostart: true, wait_timeout_ms: 15_000 })
    const calls = Array.from({ length: 6 }, (_, n) =>
      user.api.attempt(n % 2 === 0 ? 'stopInstances' : 'startInstances', { object: 'a' }),
    )
    assert.ok((await Promise.all(calls)).every((answer) => answer.status === 'success'))
    await user.api.one('startInstances', { object: 'a' })
    await wait('running')
    assert.deepEqual(
      [...hosts.byInstance.values()].flatMap((host) => host.overlaps),
      [],
    )
  })

  it('give their live quota back after each stop', async () => {
    for (let round = 0; round < 2; round++) {
      if (round === 0) await create()
      await user.api.one('startInstances', { body: [{ name: 'a', wait_timeout_ms: 15_000 }] })
      assert.equal((await user.api.one('getQuotas')).used.live_instances, 1)
      await user.api.one('stopInstances', { object: 'a' })
      await wait('stopped')
      assert.equal((await user.api.one('getQuotas')).used.live_instances, 0)
    }
  })
})
