import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceGone } from '../../../src/domain/instance/instance-gone.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const soon = { limitMs: 20_000 }
const onTraffic = { policy: 'on', cooldownMs: 1_000, stateful: false } as const

describe('an instance that is retired', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: WorldOptions = {}): Promise<void> {
    world = await beginWorld(env, options)
  }

  const retire = (drainMs: number, requestId = 'retire'): Promise<void> =>
    world.control.retire(world.settings, drainMs, requestId)
  const over = (): Promise<unknown> => env.client.workflow.getHandle(world.id).result()
  const calls = (): readonly string[] => world.host.calls.map(({ call }) => call)

  it('drains, stops, disappears and is removed, without another command', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ drainGate: () => gate.promise })
    await retire(600_000)
    await world.reachesState(InstanceState.Draining)
    await until('its host drains', () => calls().includes('drain'), soon)
    assert.equal(world.row.isHidden, false)
    gate.resolve()
    await world.gone
    await over()
    assert.deepEqual(calls(), ['start', 'drain', 'stop', 'remove'])
    assert.equal(world.row.isHidden, true)
    assert.equal(world.row.record?.stopReason, 15)
  })

  it('is not brought back by a start, while it drains or later', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ drainGate: () => gate.promise })
    await retire(600_000)
    await assert.rejects(() => world.control.start(world.settings, 'back'), InstanceGone)
    assert.equal(world.row.record?.state, InstanceState.Draining)
    gate.resolve()
    await world.gone
    await over()
    await assert.rejects(() => world.control.start(world.settings, 'late'), InstanceGone)
  })

  it('may be stopped sooner by hand, and goes all the same', async () => {
    await begin({ drainGate: () => new Promise(() => undefined) })
    await retire(600_000)
    await world.control.stop(world.settings, { force: true, drainTimeoutMs: 0 }, 'now')
    await world.gone
    assert.equal(world.row.record?.state, InstanceState.Stopped)
  })

  it('takes the command as often as it is given, also when it is gone', async () => {
    await begin({ drainGate: () => new Promise(() => undefined) })
    for (const again of ['first', 'second', 'second']) await retire(1_000, again)
    await world.gone
    await over()
    await retire(1_000, 'third')
    assert.equal(calls().filter((call) => call === 'stop').length, 1)
  })

  it('is removed from standby or before its first start without being started', async () => {
    await begin({ settings: { scaleToZero: onTraffic, autostart: false } })
    await until('the permit', () => world.host.permit === 1, soon)
    await retire(600_000)
    await world.gone
    assert.ok(!calls().includes('start'))
    await world.end()

    await begin({ settings: { autostart: false } })
    await retire(600_000)
    await over()
    assert.deepEqual(calls(), [])
  })

  it('is still retired when its workflow was terminated and the command is given once more', async () => {
    await begin({ drainGate: () => new Promise(() => undefined) })
    await retire(600_000)
    const { revision } = world.row
    await env.client.workflow.getHandle(world.id).terminate('by hand')
    const projection = world.row.record
    assert.ok(projection?.state === InstanceState.Draining)
    await world.control.retire({ ...world.settings, recorded: { revision, projection } }, 600_000, 'again')
    await world.gone
    assert.ok(!calls().slice(1).includes('start'))
  })
})
