import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const scaleToZero = { policy: 'on', cooldownMs: 60_000, stateful: false } as const
const soon = { limitMs: 30_000 }

describe('an instance that goes to standby, in time that is skipped', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startTimeSkipping()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: WorldOptions = {}): Promise<void> {
    world = await beginWorld(env, { ...options, settings: { scaleToZero, ...options.settings } })
  }

  it('is ordered to standby when it was idle for the cooldown, with its idle period and the next boot as permit', async () => {
    await begin({ settings: { restartPolicy: RestartPolicy.Always } })
    await world.tellsIdle(1, 77)
    await env.sleep('30s')
    assert.deepEqual(world.host.orders, [])
    await env.sleep('31s')
    const standby = await world.reachesState(InstanceState.Standby)
    assert.deepEqual(world.host.orders, [{ boot: 1, epoch: 77, permit: 2, stateful: false }])
    assert.deepEqual([standby.stopReason, standby.exitCode, standby.boot], [7, 0, 1])
    assert.deepEqual([standby.snapshotUuid, standby.startCount, standby.restartCount], [undefined, 1, 0])
    assert.equal(standby.uptimeMs, (standby.stoppedAtMs ?? 0) - (standby.startedAtMs ?? 0))
    await env.sleep('1 hour')
    assert.equal(world.row.record?.state, InstanceState.Standby)
    assert.equal(world.host.calls.length, 2)
  })

  it('with its memory kept has a snapshot and no exit in its row', async () => {
    await begin({ settings: { scaleToZero: { ...scaleToZero, stateful: true } } })
    await world.tellsIdle(1)
    await env.sleep('61s')
    const standby = await world.reachesState(InstanceState.Standby)
    assert.deepEqual([standby.snapshotUuid, standby.exitCode], ['snapshot-of-1', undefined])
    assert.equal(world.host.orders[0]?.stateful, true)
    await world.wakes()
    const woken = await world.reaches(({ boot }) => boot === 2)
    assert.equal(woken.snapshotUuid, undefined)
  })

  it('starts its cooldown again with each idle period', async () => {
    await begin()
    await world.tellsIdle(1, 1)
    await env.sleep('50s')
    await world.tellsIdle(1, 2)
    await env.sleep('50s')
    assert.deepEqual(world.host.orders, [])
    await env.sleep('11s')
    await world.reachesState(InstanceState.Standby)
    assert.deepEqual(
      world.host.orders.map(({ epoch }) => epoch),
      [2],
    )
  })

  for (const reason of [StandByRefusal.Busy, StandByRefusal.Unsure]) {
    it(`runs on when its host refuses (${reason}), and the next idle period orders again`, async () => {
      let refusals = 1
      await begin({ standByRefusal: () => (refusals-- > 0 ? reason : undefined) })
      await world.tellsIdle(1, 1)
      await env.sleep('61s')
      await until('the order is over', async () => (await world.life()).order === undefined, soon)
      assert.equal(world.row.record?.state, InstanceState.Running)
      await env.sleep('10 minutes')
      assert.equal(world.host.orders.length, 1)
      await world.tellsIdle(1, 2)
      await env.sleep('61s')
      await world.reachesState(InstanceState.Standby)
      assert.deepEqual(
        world.host.orders.map(({ epoch, permit }) => [epoch, permit]),
        [
          [1, 2],
          [2, 2],
        ],
      )
    })
  }

  it('is not ordered to standby while it blocks that, and at once when it stops blocking', async () => {
    await begin()
    await world.tellsIdle(1)
    await world.tells({ kind: 'disabled', boot: 1, disabled: true })
    const row = await world.reaches(({ standbyDisabled }) => standbyDisabled === true)
    assert.equal(row.state, InstanceState.Running)
    await env.sleep('1 hour')
    assert.deepEqual(world.host.orders, [])
    await world.tells({ kind: 'disabled', boot: 1, disabled: false })
    const standby = await world.reachesState(InstanceState.Standby)
    assert.equal(standby.standbyDisabled, undefined)
  })

  it('stays awake without a policy, however idle it is', async () => {
    await begin({ settings: { scaleToZero: { ...scaleToZero, policy: 'off' } } })
    await world.tellsIdle(1)
    await env.sleep('1 hour')
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
  })

  it('without autostart is in standby from the start: its host has a permit for the first boot and starts nothing', async () => {
    await begin({ settings: { autostart: false } })
    await until('the permit', () => world.host.permit === 1, soon)
    assert.deepEqual(world.host.orders, [{ boot: 0, epoch: 0, permit: 1, stateful: false }])
    await env.sleep('1 hour')
    assert.equal(world.host.calls.length, 1)
    const now = await world.life()
    assert.deepEqual([now.state, now.boot, now.startCount], [InstanceState.Standby, 0, 0])
    await world.wakes()
    const woken = await world.reachesState(InstanceState.Running)
    assert.deepEqual([woken.boot, woken.startCount], [1, 1])
    assert.deepEqual(world.host.overlaps, [])
  })

  it('without autostart is ordered to standby again if its host could not do it yet', async () => {
    let refusals = 2
    await begin({
      settings: { autostart: false },
      standByRefusal: () => (refusals-- > 0 ? StandByRefusal.NotRunning : undefined),
    })
    await env.sleep('1 minute')
    await until('the permit', () => world.host.permit === 1, soon)
    assert.equal(world.host.orders.length, 3)
  })

  it('is started by the workflow when its wake is not reported for too long, and joins the boot that runs', async () => {
    await begin()
    await world.tellsIdle(1)
    await env.sleep('61s')
    await world.reachesState(InstanceState.Standby)
    const { startedAtMs } = await world.host.wake()
    await world.tells({ kind: 'waking', boot: 2, atMs: startedAtMs })
    await world.reachesState(InstanceState.Starting)
    await env.sleep('31s')
    const woken = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.equal(woken.startCount, 2)
    assert.deepEqual(world.host.calls.at(-1), { call: 'start', boot: 2 })
    assert.deepEqual(world.host.overlaps, [])
  })
})
