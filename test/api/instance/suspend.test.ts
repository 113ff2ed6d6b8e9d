import { strict as assert } from 'node:assert'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { settledEvents } from '../../support/settled-events.ts'

const memoryMb = 128

describe('sending instances to standby', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  const make = async (name: string, more: object = {}) => {
    const spec = { image: 'hello', name, memory_mb: memoryMb, autostart: true, ...more }
    return (await user.api.one('createInstances', { body: spec })).uuid
  }
  const suspend = async (name: string, body: object = {}) =>
    await user.api.attempt('suspendInstances', { object: name, body })
  const snapshotMb = async () => (await user.api.one('getQuotas')).used.snapshot_mb

  it('says the states before and after, and counts the memory that is kept', async () => {
    const uuid = await make('a')
    assert.equal(await snapshotMb(), 0)
    const { entries } = await suspend('a')
    assert.partialDeepStrictEqual(entries, [{ uuid, name: 'a', state: 'standby', previous_state: 'running' }])
    assert.equal((await user.api.one('getInstances', { object: 'a' })).state, 'standby')
    assert.equal(await snapshotMb(), memoryMb)
    await user.api.one('stopInstances', { object: 'a' })
    assert.equal(await snapshotMb(), 0)
  })

  it('changes nothing for one that sleeps already, and writes no event of it', async () => {
    await make('a')
    await suspend('a')
    const { entries } = await suspend('a')
    assert.partialDeepStrictEqual(entries, [
      { status: 'success', state: 'standby', previous_state: 'standby' },
    ])
    await settledEvents(api.database)
    const query = { kind: 'instance.suspend' }
    const path = `/v1/events?${new URLSearchParams(query).toString()}`
    const events = await api.send({ path, token: user.token })
    assert.equal(events.json.data.events.length, 1, events.text)
  })

  it('takes the time for what is in flight, within its bounds, and as much as possible by itself', async () => {
    await make('a')
    api.control.calls.length = 0
    await suspend('a')
    for (const drain_timeout_ms of [0, 500, -1]) await suspend('a', { drain_timeout_ms })
    assert.deepEqual(
      api.control.calls,
      [10_000, 0, 500, 10_000].map((ms) => `suspend within ${ms} ms`),
    )
    const tooLong = await suspend('a', { drain_timeout_ms: 10_001 })
    assert.equal(tooLong.httpStatus, 400)
    assert.match(JSON.stringify(tooLong), /'drain_timeout_ms'.* must be in the range -1 to 10000/)
  })

  it('names those that do not run, each for itself', async () => {
    await make('runs')
    await make('stopped', { autostart: false })
    const body = [{ name: 'runs' }, { name: 'stopped' }, { name: 'nobody' }]
    const { entries } = await user.api.attempt('suspendInstances', { body })
    assert.partialDeepStrictEqual(entries, [
      { name: 'runs', state: 'standby' },
      {
        name: 'stopped',
        error: 11,
        message: "Instance 'stopped' is stopped: only an instance that runs can be suspended; start it first",
      },
      { error: 8 },
    ])
    assert.equal(await snapshotMb(), memoryMb)
  })

  it('leaves one awake whose application asks for no standby', async () => {
    const uuid = await make('a')
    await api.control.record(uuid, { standbyDisabled: true })
    const { entries } = await suspend('a')
    assert.partialDeepStrictEqual(entries, [{ error: 11, name: 'a' }])
    assert.match(JSON.stringify(entries[0]), /asks for no standby/)
    assert.equal((await user.api.one('getInstances', { object: 'a' })).state, 'running')
  })

  it('is refused beyond the quota for snapshots, which one that keeps its memory anyway has already', async () => {
    const quotas = { snapshotMb: 2 * memoryMb }
    user = await api.addUser({ hard: quotas })
    await make('keeps', { scale_to_zero: { policy: 'on', stateful: true } })
    await make('a')
    await make('b')
    await suspend('a')
    const { entries } = await suspend('b')
    assert.partialDeepStrictEqual(entries, [{ name: 'b', error: 19 }])
    assert.match(JSON.stringify(entries[0]), /exceeded: 384 with this request, 256 allowed/)
    await user.api.one('startInstances', { object: 'keeps' })
    assert.partialDeepStrictEqual((await suspend('keeps')).entries, [{ state: 'standby' }])
  })

  it('gives the room for the memory back if the workflow does not answer', async () => {
    await make('a')
    api.control.faults.isAway = true
    assert.partialDeepStrictEqual((await suspend('a')).entries, [{ name: 'a', error: 10 }])
    assert.equal(await snapshotMb(), 0)
  })

  it('counts the memory of one that is on its way', async () => {
    const uuid = await make('a')
    await api.control.record(uuid, { state: InstanceState.Running, suspended: true })
    assert.equal(await snapshotMb(), memoryMb)
  })
})
