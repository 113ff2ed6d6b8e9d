import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const soon = { limitMs: 30_000 }

describe('an instance whose host lost everything, in time that is skipped', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startTimeSkipping()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function running(settings: NonNullable<WorldOptions['settings']>): Promise<void> {
    world = await beginWorld(env, { settings })
    await world.reachesState(InstanceState.Running)
  }

  /** Tells the loss twice, because a host repeats an event until it sees the effect. */
  async function loses(boot: number): Promise<void> {
    world.host.setUpAnew()
    const lost = { kind: 'lost', boot, atMs: await env.currentTimeMs() } as const
    await world.tells(lost, lost)
  }

  it('is stopped for an unknown reason where its policy does not restart it', async () => {
    await running({ restartPolicy: RestartPolicy.Never })
    await loses(1)
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual([stopped.stopReason, stopped.exitCode, stopped.boot], [0, undefined, 1])
  })

  it('is started again, once, if its policy restarts it', async () => {
    await running({ restartPolicy: RestartPolicy.Always })
    await loses(1)
    const again = await world.reaches(({ state, boot }) => state === InstanceState.Running && boot === 2)
    assert.deepEqual([again.startCount, again.restartCount], [2, 1])
    await loses(1)
    await env.sleep('1 hour')
    assert.equal(world.row.record?.boot, 2)
  })

  for (const stateful of [false, true]) {
    it(`that slept ${stateful ? 'with its memory' : 'cold'} can be woken there, and says what is lost`, async () => {
      await running({ scaleToZero: { policy: 'on', cooldownMs: 60_000, stateful } })
      await world.tellsIdle(1)
      await env.sleep('61s')
      await world.reachesState(InstanceState.Standby)
      await loses(1)
      await until('the permit is left there anew', () => world.host.permit === 2, soon)
      assert.deepEqual(world.host.orders.at(-1), { boot: 1, epoch: 0, permit: 2, stateful })
      const lost = 'its host lost the memory that it had kept: the next wake starts the application anew'
      const asleep = await world.reaches(({ snapshotUuid }) => snapshotUuid === undefined)
      assert.deepEqual([asleep.state, asleep.failure], [InstanceState.Standby, stateful ? lost : undefined])
      await world.wakes()
      const woken = await world.reaches(({ state, boot }) => state === InstanceState.Running && boot === 2)
      assert.deepEqual([woken.failure, woken.startCount, world.host.overlaps], [undefined, 2, []])
    })
  }

  it('stays when somebody says that its host never comes back, until it is deleted', async () => {
    await running({})
    await world.tells({ kind: 'removed' })
    await env.sleep('1s')
    assert.equal(world.row.record?.state, InstanceState.Running, 'what is not deleted stays')
  })
})
