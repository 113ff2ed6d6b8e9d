import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld, createWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const soon = { limitMs: 30_000 }
const scaleToZero = { policy: 'on', cooldownMs: 0, stateful: true } as const
const graceful = { force: false, drainTimeoutMs: 0 }

describe('an instance whose host is declared lost', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function isLost(stays = false, loss = 1): Promise<void> {
    const atMs = await env.currentTimeMs()
    await world.control.hostLost(world.settings, { nodeId: world.settings.nodeId, loss, atMs, stays })
  }

  it('begins again at the host where it is placed anew, once, however often the loss is told', async () => {
    world = await beginWorld(env)
    await isLost()
    const again = await world.reaches(({ state, boot }) => state === InstanceState.Running && boot === 2)
    assert.deepEqual([again.startCount, again.restartCount], [2, 0])
    assert.deepEqual(world.otherHost.calls, [{ call: 'start', boot: 2 }])
    await isLost()
    await world.control.stop(world.settings, graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(world.otherHost.calls.at(-1), { call: 'stop', boot: 2, forced: false })
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
    assert.ok((await world.details()).includes(`on host ${world.otherHost.nodeId}`))
  })

  it('calls off what waits for the lost host', async () => {
    world = await createWorld(env, { hostAway: true })
    await world.control.ensureStarted(world.settings)
    await until(
      'the start waits for the host',
      async () => {
        const { raw } = await env.client.workflow.getHandle(world.id).describe()
        return raw.pendingActivities?.length === 1
      },
      soon,
    )
    await isLost()
    await world.reachesState(InstanceState.Running)
    assert.deepEqual(world.otherHost.calls, [{ call: 'start', boot: 2 }])
    // The host is back: it must not get the call that it was to be given before.
    await world.hostComesBack()
    await world.control.stop(world.settings, graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(world.host.calls, [])
  })

  it('sleeps on at the next host, which wakes it', async () => {
    world = await beginWorld(env, { settings: { scaleToZero } })
    await world.tellsIdle(1)
    await world.reachesState(InstanceState.Standby)
    await isLost()
    await until('the permit is there', () => world.otherHost.permit === 3, soon)
    await world.control.start(world.settings, 'start')
    await world.reachesState(InstanceState.Running)
    assert.deepEqual(world.otherHost.calls.at(-1), { call: 'start', boot: 3 })
  })

  it('waits for a host with room, says for what it waits, and can be deleted meanwhile', async () => {
    const lack = 'no host has enough memory'
    world = await beginWorld(env, { places: (nth) => (nth === 1 ? { lack } : undefined) })
    await isLost()
    await until('it says so', async () => (await world.details()).includes(lack), soon)
    await world.reaches(({ state, boot }) => state === InstanceState.Running && boot === 2)
    await world.end()
    world = await beginWorld(env, { places: () => ({ lack }) })
    await isLost()
    await until('it says so', async () => (await world.details()).includes(lack), soon)
    await world.control.delete(world.settings)
    await world.gone
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
  })

  it('with its volume there waits for that host', async () => {
    const options: WorldOptions = { places: () => assert.fail('it is not placed anew') }
    world = await beginWorld(env, options)
    await isLost(true)
    const again = await world.reaches(({ state, boot }) => state === InstanceState.Running && boot === 2)
    assert.equal(again.startCount, 2)
    assert.deepEqual(world.host.calls.at(-1), { call: 'start', boot: 2 })
  })
})
