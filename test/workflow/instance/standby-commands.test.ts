import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld, createWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const scaleToZero = { policy: 'on', cooldownMs: 0, stateful: false } as const
const graceful = { force: false, drainTimeoutMs: 0 }
const soon = { limitMs: 30_000 }

describe('commands to an instance that is, or is being, sent to standby', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function asleep(options: WorldOptions = {}): Promise<void> {
    world = await beginWorld(env, { ...options, settings: { scaleToZero, ...options.settings } })
    await world.tellsIdle(1)
    await world.reachesState(InstanceState.Standby)
  }

  /** Sends the order for standby. The host carries it out when `goOn` is called. */
  async function ordered(): Promise<{ readonly goOn: () => void }> {
    const gate = Promise.withResolvers<void>()
    world = await beginWorld(env, { settings: { scaleToZero }, standByGate: () => gate.promise })
    await world.tellsIdle(1)
    await until('the order is out', () => world.host.orders.length === 1, soon)
    return { goOn: gate.resolve }
  }

  async function runId(): Promise<string> {
    return (await env.client.workflow.getHandle(world.id).describe()).runId
  }

  it('a start in standby asks for the boot of the permit', async () => {
    await asleep()
    const answer = await world.control.start(world.settings, 'start')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Standby, InstanceState.Starting])
    const woken = await world.reachesState(InstanceState.Running)
    assert.deepEqual([woken.boot, woken.startCount], [2, 2])
    assert.deepEqual(world.host.calls.at(-1), { call: 'start', boot: 2 })
    assert.equal(world.host.permit, undefined)
  })

  it('a start while traffic wakes it joins that boot', async () => {
    await asleep()
    const { boot, startedAtMs } = await world.host.wake()
    await world.tells({ kind: 'waking', boot, atMs: startedAtMs })
    await world.control.start(world.settings, 'start')
    const woken = await world.reachesState(InstanceState.Running)
    assert.deepEqual([woken.boot, woken.startCount], [2, 2])
    assert.deepEqual(world.host.overlaps, [])
  })

  it('a stop in standby takes the permit from its host', async () => {
    await asleep()
    const answer = await world.control.stop(world.settings, graceful, 'stop')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Standby, InstanceState.Stopping])
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.equal(stopped.boot, 2)
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: 2, forced: false })
    assert.equal(world.host.permit, undefined)
    await world.control.start(world.settings, 'start')
    await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
  })

  it('a stop calls off the order that only leaves a permit, so no repeat leaves it after the stop', async () => {
    const never = new Promise<void>(() => undefined)
    const settings = { scaleToZero, autostart: false }
    world = await beginWorld(env, { settings, standByGate: () => never })
    await until('the order is out', () => world.host.orders.length === 1, soon)
    await world.control.stop(world.settings, graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
    await until('the order is called off', () => world.host.ordersCalledOff.length === 1, soon)
    assert.equal(world.host.permit, undefined)
  })

  it('a stop before the workflow hears of a wake ends the woken boot', async () => {
    await asleep()
    await world.host.wake()
    await world.control.stop(world.settings, graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(world.host.running, new Set())
  })

  it('a start while the order is out does not change the order; traffic wakes the instance again', async () => {
    const { goOn } = await ordered()
    const answer = await world.control.start(world.settings, 'start')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Running, InstanceState.Running])
    goOn()
    await world.reachesState(InstanceState.Standby)
    assert.equal(world.host.permit, 2)
  })

  it('a stop while the order is out stops the boot of its permit too', async () => {
    const { goOn } = await ordered()
    const answer = await world.control.stop(world.settings, { force: false, drainTimeoutMs: 60_000 }, 'stop')
    assert.equal(answer.state, InstanceState.Stopping)
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: 2, forced: false })
    assert.deepEqual([stopped.stopReason, stopped.exitCode], [15, 0])
    goOn()
    await until(
      'nothing is under way',
      async () => {
        const { raw } = await env.client.workflow.getHandle(world.id).describe()
        return (raw.pendingActivities ?? []).length === 0
      },
      soon,
    )
    assert.equal(world.row.record?.state, InstanceState.Stopped)
    assert.equal(world.host.permit, undefined)
  })

  it('a refresh in standby continues it as new, and traffic still wakes it', async () => {
    await asleep({ settings: { scaleToZero: { ...scaleToZero, stateful: true } } })
    const first = await runId()
    await world.control.refresh(world.settings.instanceUuid)
    await until('the next run', async () => (await runId()) !== first, soon)
    await world.wakes()
    const woken = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.equal(woken.startCount, 2)
    assert.equal(world.host.orders.length, 1)
  })

  it('a refresh while the order is out waits for the answer to that order', async () => {
    const { goOn } = await ordered()
    const first = await runId()
    await world.control.refresh(world.settings.instanceUuid)
    await world.control.start(world.settings, 'handled after the refresh')
    assert.equal(await runId(), first)
    goOn()
    await world.reachesState(InstanceState.Standby)
    await until('the next run', async () => (await runId()) !== first, soon)
    await world.wakes()
    await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.equal(world.host.orders.length, 1)
  })

  const moments: Readonly<Record<string, () => Promise<unknown>>> = {
    'in standby': () => asleep(),
    'in standby from the start': async () => {
      world = await beginWorld(env, { settings: { scaleToZero, autostart: false } })
      await until('the permit', () => world.host.permit === 1, soon)
    },
    'while the order is out': () => ordered(),
    'while traffic wakes it': async () => {
      await asleep()
      const { boot, startedAtMs } = await world.host.wake()
      await world.tells({ kind: 'waking', boot, atMs: startedAtMs })
      await world.reachesState(InstanceState.Starting)
    },
    'while it drains': async () => {
      const drainGate = (): Promise<void> => new Promise(() => undefined)
      world = await beginWorld(env, { drainGate })
      await world.control.stop(world.settings, { force: false, drainTimeoutMs: 600_000 }, 'stop')
      await world.reachesState(InstanceState.Draining)
    },
    'between two tries of a start': async () => {
      world = await createWorld(env, { failureOf: () => HostFailure.HostFull })
      await world.control.ensureStarted(world.settings)
      await world.reaches(({ failure }) => failure !== undefined)
    },
  }
  for (const [moment, reach] of Object.entries(moments)) {
    it(`a delete ${moment} cleans its host and removes its row`, async () => {
      await reach()
      await world.control.delete(world.settings)
      await world.gone
      await env.client.workflow.getHandle(world.id).result()
      assert.deepEqual(world.host.calls.at(-1), { call: 'remove' })
      assert.deepEqual([world.host.permit, world.host.running.size], [undefined, 0])
    })
  }
})
