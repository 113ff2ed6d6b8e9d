import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { InstanceSettings } from '../../../src/domain/instance/settings.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World } from './world.ts'

const stateful = { policy: 'on', cooldownMs: 1_000, stateful: true } as const

describe('a change of the configuration', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  const changed = (
    version: number,
    more: Partial<InstanceSettings> = {},
    renewBelow = 0,
  ): InstanceSettings => ({
    ...world.settings,
    ...more,
    config: { version, renewBelow, drainMs: 0 },
  })

  it('is told to the host, and the row says that the workflow knows it', async () => {
    world = await beginWorld(env)
    const answer = await world.control.change(changed(1, { scaleToZero: stateful }), 'one')
    assert.equal(answer.state, InstanceState.Running)
    await world.reaches(({ toldVersion }) => toldVersion === 1)
    await until('its host is told', () => world.host.changes.length === 1, { limitMs: 20_000 })
    const [told] = world.host.changes
    assert.deepEqual([told?.version, told?.renew, told?.scaleToZero], [1, false, stateful])
  })

  it('restarts what runs where that is asked for', async () => {
    world = await beginWorld(env)
    world.host.version = 1
    const answer = await world.control.change(changed(1, {}, 1), 'one')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Running, InstanceState.Stopping])
    const up = await world.reaches(({ launchedVersion }) => launchedVersion === 1)
    assert.deepEqual([up.state, up.boot, up.startCount], [InstanceState.Running, 2, 2])
    assert.deepEqual(world.host.overlaps, [])
  })

  it('drops the memory of what sleeps where that is asked for, and leaves it asleep', async () => {
    world = await beginWorld(env, { settings: { scaleToZero: stateful } })
    await world.tellsIdle(1)
    await world.reaches(({ snapshotUuid }) => snapshotUuid !== undefined)
    await world.control.change(changed(1, { scaleToZero: stateful }, 1), 'one')
    const asleep = await world.reaches(
      ({ toldVersion, snapshotUuid }) => toldVersion === 1 && snapshotUuid === undefined,
    )
    assert.equal(asleep.state, InstanceState.Standby)
    assert.equal(world.host.changes.at(-1)?.renew, true)
  })

  it('acts once, whoever tells it how often', async () => {
    world = await beginWorld(env)
    world.host.version = 1
    await world.control.change(changed(1, {}, 1), 'one')
    await world.reaches(({ launchedVersion }) => launchedVersion === 1)
    await world.control.change(changed(1, {}, 1), 'by the sweep')
    assert.deepEqual([world.row.record?.boot, (await world.life()).state], [2, InstanceState.Running])
  })

  it('is known to a workflow that is started with it', async () => {
    world = await beginWorld(env, { settings: { config: { version: 2, renewBelow: 0, drainMs: 0 } } })
    await world.reaches(({ toldVersion }) => toldVersion === 2)
  })
})
