import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World } from './world.ts'

const soon = { limitMs: 20_000 }
const request = { drainTimeoutMs: 500 }

describe('an instance that its user sends to standby', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  const suspend = async (id: string) => await world.control.suspend(world.settings, request, id)
  const states = async (id: string) => {
    const { previousState, state } = await suspend(id)
    return [previousState, state]
  }

  it('goes there without scale-to-zero, with its memory, and says so at every step', async () => {
    const gate = Promise.withResolvers<void>()
    world = await beginWorld(env, { standByGate: () => gate.promise })
    assert.deepEqual(await states('one'), ['running', 'running'])
    const says = async (text: RegExp) =>
      await until(String(text), async () => text.test(await world.details()), soon)
    await says(/\*\*running\*\* since \S+, started as asked; being sent to standby, as asked/)
    await says(/next: host \S+ sends it to standby\n/)
    assert.equal(world.row.record?.suspended, true)
    gate.resolve()
    const asleep = await world.reachesState(InstanceState.Standby)
    assert.equal(asleep.snapshotUuid, 'snapshot-of-1')
    assert.partialDeepStrictEqual(world.host.orders, [{ boot: 1, permit: 2, stateful: true, drainMs: 500 }])
    await says(/\*\*standby\*\* since \S+, as asked, its memory is kept in snapshot snapshot-of-1/)
    assert.deepEqual(await states('again'), ['standby', 'standby'])
    await world.wakes()
    const woken = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.equal(woken.suspended, undefined)
  })

  it('is asked for once, however often the same request comes', async () => {
    world = await beginWorld(env)
    await suspend('one')
    await world.reachesState(InstanceState.Standby)
    await world.wakes()
    await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.deepEqual(await states('one'), ['running', 'running'])
    assert.equal(world.host.orders.length, 1)
  })

  it('runs on with a failure if its host has no room, and answers for a stopped one with its state', async () => {
    world = await beginWorld(env, { standByRefusal: () => StandByRefusal.NoRoom })
    await suspend('one')
    const failed = await world.reaches(({ failure }) => failure !== undefined)
    assert.match(failed.failure ?? '', /^it was not suspended: the disk of its host has no room/)
    assert.deepEqual([failed.state, failed.suspended], [InstanceState.Running, undefined])
    await world.control.stop(world.settings, { force: false, drainTimeoutMs: 0 }, 'stop')
    await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(await states('late'), ['stopped', 'stopped'])
  })
})
