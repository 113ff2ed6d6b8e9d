import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import type { InstanceSettings } from '../../../src/domain/instance/settings.ts'
import { startDevServer } from '../../support/temporal.ts'
import { createWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const graceful = { force: false, drainTimeoutMs: 0 }

describe('an instance whose workflow a person terminated', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  /**
   * Terminates the workflow of an instance that runs its second boot. Returns the settings that a caller then
   * reads from the row.
   */
  async function terminated(options: WorldOptions = {}): Promise<InstanceSettings> {
    world = await createWorld(env, options)
    await world.control.ensureStarted(world.settings)
    await world.reachesState(InstanceState.Running)
    await world.control.stop(world.settings, graceful, 'first stop')
    await world.reachesState(InstanceState.Stopped)
    await world.control.start(world.settings, 'second start')
    await world.reachesState(InstanceState.Running)
    await env.client.workflow.getHandle(world.id).terminate('by hand')
    return known()
  }

  function known(): InstanceSettings {
    const { revision, record: projection } = world.row
    assert.ok(projection)
    return { ...world.settings, recorded: { revision, projection } }
  }

  it('is stopped by a stop, and its row says so', async () => {
    const settings = await terminated()
    const answer = await world.control.stop(settings, graceful, 'stop')
    assert.equal(answer.state, InstanceState.Stopping)
    assert.ok(answer.revision > (settings.recorded?.revision ?? 0))
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual([stopped.boot, stopped.startCount, stopped.stopReason, stopped.exitCode], [2, 2, 15, 0])
    assert.deepEqual(world.host.running, new Set())
  })

  it('runs on with its VM after a start, and its next start is another boot', async () => {
    const settings = await terminated()
    await world.control.start(settings, 'start')
    await world.reachesState(InstanceState.Starting)
    const running = await world.reachesState(InstanceState.Running)
    assert.deepEqual([running.boot, running.startCount], [2, 2])
    await world.control.stop(known(), graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
    await world.control.start(known(), 'again')
    const again = await world.reachesState(InstanceState.Running)
    assert.deepEqual([again.boot, again.startCount], [3, 3])
    assert.deepEqual(world.host.overlaps, [])
  })

  it('hears of an end that no workflow heard of, and follows its policy', async () => {
    const settings = await terminated({ settings: { restartPolicy: RestartPolicy.OnFailure } })
    await world.host.endUnheard(2, { exitCode: 3 })
    await world.control.ensureStarted(settings)
    const restarted = await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
    assert.deepEqual([restarted.startCount, restarted.restartCount], [3, 1])
  })

  it('is removed from its host before its row is deleted', async () => {
    const settings = await terminated({ settings: { autostart: true } })
    await world.control.delete({ ...settings, autostart: false })
    await world.gone
    assert.equal(world.host.calls.at(-1)?.call, 'remove')
    assert.deepEqual(world.host.running, new Set())
  })
})
