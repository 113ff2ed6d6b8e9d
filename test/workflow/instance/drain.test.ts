import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World } from './world.ts'

const soon = { limitMs: 20_000 }
const never = (): Promise<void> => new Promise(() => undefined)

describe('a stop that waits for connections', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function drain(drainGate: () => Promise<void>, drainTimeoutMs: number): Promise<void> {
    world = await beginWorld(env, { drainGate })
    const answer = await world.control.stop(world.settings, { force: false, drainTimeoutMs }, 'drain')
    assert.equal(answer.state, InstanceState.Draining)
    await until('its host drains', () => world.host.calls.some(({ call }) => call === 'drain'), soon)
  }

  it('shuts down when its host says that no connection is left, and not before', async () => {
    const gate = Promise.withResolvers<void>()
    await drain(() => gate.promise, 600_000)
    assert.deepEqual([...world.host.running], [1])
    assert.equal(world.host.calls.length, 2)
    gate.resolve()
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual([stopped.stopReason, stopped.exitCode], [15, 0])
    assert.deepEqual(world.host.drainsCalledOff, [])
  })

  it('shuts down when its time is over, and leaves the drain to the stop', async () => {
    await drain(never, 1_000)
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.equal(stopped.stopReason, 15)
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: 1, forced: false })
    assert.deepEqual(world.host.drainsCalledOff, [])
  })

  it('is taken back by a start: the drain is called off, and the same boot takes traffic again', async () => {
    await drain(never, 600_000)
    const answer = await world.control.start(world.settings, 'back')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Draining, InstanceState.Running])
    await until('the drain is called off', () => world.host.drainsCalledOff.length === 1, soon)
    await until('its host lets in', () => world.host.calls.length === 3, soon)
    assert.deepEqual(world.host.calls.at(-1), { call: 'start', boot: 1 })
    assert.deepEqual([...world.host.running], [1])
    assert.equal(world.row.record?.startCount, 1)
  })

  it('goes on if its workers are restarted meanwhile', async () => {
    const gate = Promise.withResolvers<void>()
    await drain(() => gate.promise, 600_000)
    await world.restartWorkers()
    gate.resolve()
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.equal(stopped.stopReason, 15)
  })
})
