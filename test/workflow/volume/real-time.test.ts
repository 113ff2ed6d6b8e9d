import { strict as assert } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { VolumeWork } from '../../../src/domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../../../src/domain/volume/settings.ts'
import { volumeEventSignal } from '../../../workflows/volume/messages.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { createVolumeWorld } from './world.ts'
import type { VolumeWorld, VolumeWorldOptions } from './world.ts'

const { Make, Repair, Remove } = VolumeWork
const { Ready, Busy, Error: Failed } = VolumePhase
const soon = { limitMs: 40_000 }
const never = (): Promise<void> => new Promise(() => undefined)

describe('a volume as a workflow, on a server with a clock', () => {
  let env: TestWorkflowEnvironment
  let world: VolumeWorld
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: VolumeWorldOptions = {}): Promise<void> {
    world = await createVolumeWorld(env, options)
    await world.control.ensureStarted(world.settings)
  }

  async function beginReady(options: VolumeWorldOptions = {}): Promise<void> {
    await begin(options)
    await world.reachesPhase(Ready)
  }

  /** The settings that a caller reads from the volume's row. */
  function known(): VolumeSettings {
    const { revision, record } = world.row
    assert.ok(record)
    return { ...world.settings, recorded: { ...record, revision, deleting: false } }
  }

  const runs = async () => (await env.client.workflow.getHandle(world.id).describe()).runId

  it('waits for a host that is away, says so, and is made when the host is back', async () => {
    await begin({ hostAway: true })
    // Each query gives the workflow a task. Queries without a pause would keep a busy machine from the work
    // itself.
    const waiting = async () => {
      await delay(1_000)
      return (await world.details()).includes('takes no work at present')
    }
    await until('it says that it waits', waiting, soon)
    assert.equal(world.row.record?.phase, VolumePhase.Initializing)
    await world.hostComesBack()
    await world.reachesPhase(Ready)
    await until('it waits no more', async () => !(await waiting()), soon)
    assert.equal(world.host.formatted, 1)
  })

  it('that is deleted while its host is away is removed once the host is back, without being made', async () => {
    await begin({ hostAway: true })
    await world.control.delete(world.settings)
    await until('it is deleting', async () => (await world.life()).deleting, soon)
    await world.hostComesBack()
    await world.gone
    assert.deepEqual(world.host.calls, [Remove])
  })

  it('calls off a repair when it is deleted, and is removed only after the repair has ended', async () => {
    await beginReady({ gate: (work) => (work === Repair ? never() : undefined) })
    await world.control.repair(world.settings)
    await until('it is repaired', () => world.host.calls.includes(Repair), soon)
    await world.control.delete(world.settings)
    await world.gone
    assert.deepEqual(world.host.calls, [Make, Repair, Remove])
    assert.deepEqual(world.host.calledOff, [Repair])
    assert.equal(world.host.overlaps, 0)
  })

  it('goes on when all its workers are restarted while it is made', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ gate: (work, attempt) => (work === Make && attempt === 1 ? gate.promise : undefined) })
    await until('it is being made', () => world.host.calls.includes(Make), soon)
    const restarted = world.restartWorkers()
    gate.resolve()
    await restarted
    await world.reachesPhase(Ready)
    assert.equal(world.host.formatted, 1)
  })

  it('continues as new when it rests, with all it knows', async () => {
    await beginReady()
    await world.tells({ kind: 'damaged', reason: 'its file is gone' })
    await world.reachesPhase(Failed)
    const [before, life] = [await runs(), await world.life()]
    await world.control.refresh(world.settings.volumeUuid)
    await until('there is a new run', async () => (await runs()) !== before, soon)
    assert.deepEqual(await world.life(), life)
    await world.control.repair(world.settings)
    await world.reachesPhase(Busy)
    await world.reachesPhase(Ready)
    assert.deepEqual(world.host.calls, [Make, Repair])
  })

  it('goes on from its row after a person terminated it, and is not made again', async () => {
    await beginReady()
    await env.client.workflow.getHandle(world.id).terminate('by hand')
    await world.control.repair(known())
    await world.reachesPhase(Busy)
    await world.reachesPhase(Ready)
    assert.deepEqual(world.host.calls, [Make, Repair])
  })

  it('that a person terminated while it was made is made to the end', async () => {
    await begin({ gate: (work, attempt) => (work === Make && attempt === 1 ? never() : undefined) })
    await until('it is being made', () => world.host.calls.includes(Make), soon)
    await world.reachesPhase(VolumePhase.Initializing)
    await env.client.workflow.getHandle(world.id).terminate('by hand')
    await world.control.ensureStarted(known())
    await world.reachesPhase(Ready)
    assert.equal(world.host.formatted, 1)
  })

  it('ignores unknown events of a newer agent, and goes on', async () => {
    await beginReady()
    const handle = env.client.workflow.getHandle(world.id)
    await handle.signal(volumeEventSignal.name, { kind: 'trimmed', bytes: 5 })
    await handle.signal('polish')
    await world.tells({ kind: 'damaged', reason: 'a lost inode table' })
    await world.reachesPhase(Failed)
  })

  it('tells in the Web UI what it is doing, why, and what comes next, and its phase can be searched for', async () => {
    await begin({ failureOf: (work) => (work === Make ? HostFailure.VolumeUnusable : undefined) })
    await world.reachesPhase(Failed)
    await until('its details say so', async () => (await world.details()).includes('**error**'), soon)
    const details = await world.details()
    assert.match(
      details,
      /^\*\*error\*\*: vol-data could not be made\.\n\n- next: .*`roost admin volume repair vol-data`/,
    )
    assert.match(details, /\n- 64 MB on host node-\w+, never made yet\n- why: fake VolumeUnusable$/)
    const { searchAttributes } = await env.client.workflow.getHandle(world.id).describe()
    assert.deepEqual(searchAttributes['RoostState'], ['error'])
    assert.deepEqual(searchAttributes['RoostNode'], [world.settings.nodeId])
  })
})
