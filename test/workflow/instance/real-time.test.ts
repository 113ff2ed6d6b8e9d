import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { createWorld } from './world.ts'
import type { World } from './world.ts'

describe('an instance on the server that the stack runs', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  it('a host that is away takes the start when it is back, and the details name the host that it waits for', async () => {
    world = await createWorld(env, { hostAway: true })
    await world.control.ensureStarted(world.settings)
    const says = `waiting for host ${world.settings.nodeId}`
    await until(says, async () => (await world.details()).includes(says), { limitMs: 30_000 })
    await world.hostComesBack()
    await world.reachesState(InstanceState.Running)
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
  })

  it('a database that is away delays the row, not the host', async () => {
    world = await createWorld(env, { writeFails: (nth) => nth <= 5 })
    await world.control.ensureStarted(world.settings)
    const running = await world.reachesState(InstanceState.Running)
    assert.equal(running.startCount, 1)
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
  })

  it('is found by its state, which follows it', async () => {
    world = await createWorld(env)
    await world.control.ensureStarted(world.settings)
    await world.reachesState(InstanceState.Running)
    const query = `RoostUser = '${world.settings.userUuid}' AND RoostNode = '${world.settings.nodeId}' AND RoostState = 'running'`
    await until(
      'the visibility store knows it',
      async () => (await env.client.workflow.count(query)).count === 1,
      { limitMs: 30_000 },
    )
  })

  it('is shown by its name; memo and details have it in its next run too', async () => {
    world = await createWorld(env, { settings: { name: 'shop' } })
    await world.control.ensureStarted(world.settings)
    await world.reachesState(InstanceState.Running)
    const handle = env.client.workflow.getHandle(world.id)
    const { runId } = await handle.describe()
    const summary = `shop, on host ${world.settings.nodeId}, restart policy never`
    assert.equal(await (await handle.describe()).staticSummary(), summary)
    await world.control.refresh(world.settings.instanceUuid)
    await until('the next run', async () => (await handle.describe()).runId !== runId, { limitMs: 30_000 })
    const next = await handle.describe()
    assert.deepEqual(next.memo, { name: 'shop' })
    assert.match(await world.details(), /^shop: \*\*running\*\* since .*on host \S+, started once\n/s)
  })
})
