import { strict as assert } from 'node:assert'
import type { AwakeInstance } from '../../../src/domain/instance/awake.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

const started = {
  boot: 2,
  kind: 'restore',
  startedAtMs: 1_700_000_000_000,
  bootTimeUs: 70_000,
  vmmStartTimeUs: 1_000,
  vmmLoadTimeUs: 2_000,
  vmmReadyTimeUs: 3_000,
} as const
const awake: AwakeInstance = { boot: 2, state: InstanceState.Running, started }
const snapshotUuid = '5d1f7b0e-9d3c-4c7c-8a39-0b6a2f3f7c11'
const waking: AwakeInstance = { boot: 2, state: InstanceState.Starting }

/**
 * The host has woken the instance, but its workflow has not written that yet. So its row is behind its host.
 */
describe('an instance that its host has just woken', () => {
  let api: TestApi
  let user: TestUser
  let uuid: string
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    delete api.nodes.fails
    api.nodes.awake.clear()
    user = await api.addUser()
    uuid = await make('web')
    await sleep(uuid)
    api.nodes.calls.length = 0
  })

  const make = async (name: string) =>
    (await user.api.one('createInstances', { body: { image: 'hello', name, autostart: true } })).uuid
  const sleep = async (instance: string) => {
    const slept = { boot: 1, startCount: 1, stopReason: 7, exitCode: 0, stoppedAtMs: 1_000 }
    await api.control.record(instance, { state: InstanceState.Standby, ...slept, snapshotUuid })
  }
  const view = async () => user.api.one('getInstances', { object: uuid })
  const inState = async (...states: readonly InstanceState[]) =>
    (await user.api.call('listInstances', { body: states.map((state) => ({ state })) })).map(
      ({ name }) => name,
    )
  const waitFor = async (state: InstanceState, timeout_ms = 0) =>
    user.api.attempt('waitInstances', { body: [{ uuid, state, timeout_ms }] })

  it('is running in its status, with the start that its host tells of and without the stop before', async () => {
    assert.equal((await view()).state, 'standby')
    api.nodes.awake.set(uuid, awake)
    const { state, start_count, started_at, boot_time_us, ...rest } = await view()
    assert.deepEqual(
      [state, start_count, started_at, boot_time_us],
      ['running', 2, '2023-11-14T22:13:20Z', 70_000],
    )
    const past = ['stop_reason', 'exit_code', 'stopped_at', 'snapshot']
    assert.deepEqual(
      past.filter((name) => name in rest),
      [],
    )
  })

  it('shows nothing of the stop before while it is draining', async () => {
    api.nodes.awake.set(uuid, { boot: 2, state: InstanceState.Draining, started })
    const { state, ...rest } = await view()
    assert.equal(state, 'draining')
    assert.ok(!('stop_reason' in rest) && !('exit_code' in rest))
  })

  it('is running if its row says that the same boot is starting; the start is counted once', async () => {
    await api.control.record(uuid, { state: InstanceState.Starting, boot: 2, startCount: 2 })
    assert.equal((await view()).state, 'starting')
    api.nodes.awake.set(uuid, awake)
    const { state, start_count } = await view()
    assert.deepEqual([state, start_count], ['running', 2])
  })

  it('is starting as long as its boot is coming up', async () => {
    api.nodes.awake.set(uuid, waking)
    assert.equal((await view()).state, 'starting')
  })

  it('is running in the status of all instances, which takes one call per host', async () => {
    const other = await make('other')
    await sleep(other)
    api.nodes.calls.length = 0
    api.nodes.awake.set(uuid, awake)
    const states = (await user.api.call('getInstances')).map((entry) => entry.state)
    assert.deepEqual(states, ['running', 'standby'])
    assert.deepEqual(api.nodes.calls, ['awake of 2'])
  })

  it('is listed as running and not as in standby, at its usual place', async () => {
    for (const name of ['b', 'c']) await sleep(await make(name))
    api.nodes.awake.set(uuid, awake)
    assert.deepEqual(await inState(InstanceState.Standby), ['b', 'c'])
    assert.deepEqual(await inState(InstanceState.Running), ['web'])
    assert.deepEqual(await inState(InstanceState.Running, InstanceState.Standby), ['web', 'b', 'c'])
    const first = await user.api.call('listInstances', {
      body: [{ state: 'standby' }],
      query: { count: '1' },
    })
    assert.deepEqual(
      first.map(({ name }) => name),
      ['b'],
    )
  })

  it('ends a wait for running, and does not end one for standby', async () => {
    assert.equal((await waitFor(InstanceState.Standby)).status, 'success')
    api.nodes.awake.set(uuid, awake)
    assert.equal((await waitFor(InstanceState.Running)).status, 'success')
    assert.equal((await waitFor(InstanceState.Standby)).status, 'error')
  })

  it('ends a wait for standby when it sleeps again', async () => {
    api.nodes.awake.set(uuid, awake)
    const waits = waitFor(InstanceState.Standby, 20_000)
    api.nodes.awake.clear()
    await api.control.record(uuid, { state: InstanceState.Running, boot: 2, startCount: 2 })
    await api.control.record(uuid, { state: InstanceState.Standby, boot: 2, startCount: 2 })
    assert.equal((await waits).status, 'success')
  })

  it('is running in the metrics', async () => {
    api.nodes.awake.set(uuid, awake)
    const sent = await api.send({ token: user.token, path: `/v1/instances/${uuid}/metrics` })
    assert.match(sent.text, new RegExp(`instance_state{instance_uuid="${uuid}"} 2`))
    assert.match(sent.text, new RegExp(`instance_start_count{instance_uuid="${uuid}"} 2`))
  })

  it('has the previous state running in the answers to a start, a stop and a delete', async () => {
    api.nodes.awake.set(uuid, awake)
    const startedAgain = await user.api.one('startInstances', { object: uuid })
    assert.deepEqual([startedAgain.previous_state, startedAgain.state], ['running', 'running'])
    await sleep(uuid)
    assert.equal((await user.api.one('stopInstances', { object: uuid })).previous_state, 'running')
    await sleep(uuid)
    assert.equal((await user.api.one('deleteInstances', { object: uuid })).previous_state, 'running')
  })

  it('has the state of its row if the row knows a later boot', async () => {
    await api.control.record(uuid, { state: InstanceState.Standby, boot: 3, startCount: 3 })
    api.nodes.awake.set(uuid, awake)
    assert.equal((await view()).state, 'standby')
  })

  it('has the state of its row if its host does not answer', async () => {
    api.nodes.fails = new NodeUnavailable('no answer')
    assert.equal((await view()).state, 'standby')
    assert.equal((await waitFor(InstanceState.Standby)).status, 'success')
  })

  it('takes no call to a host if the row says that it runs or is stopped', async () => {
    await api.control.record(uuid, { state: InstanceState.Running, boot: 2, startCount: 2 })
    await view()
    await api.control.record(uuid, { state: InstanceState.Stopped, boot: 2, startCount: 2 })
    await view()
    assert.deepEqual(api.nodes.calls, [])
  })

  it('takes no call to a host if another user asks for it', async () => {
    api.nodes.awake.set(uuid, awake)
    const stranger = await api.addUser()
    assert.equal((await stranger.api.attempt('getInstances', { object: uuid })).status, 'error')
    const listed = await stranger.api.call('listInstances', { body: [{ state: 'running' }] })
    assert.deepEqual([listed, api.nodes.calls], [[], []])
  })
})
