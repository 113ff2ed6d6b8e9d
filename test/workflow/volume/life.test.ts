import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { VolumeGone } from '../../../src/control/volume-control.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import type { VolumeRecord } from '../../../src/db/volume/records.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { VolumeWork } from '../../../src/domain/volume/lifecycle.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { createVolumeWorld } from './world.ts'
import type { VolumeWorld, VolumeWorldOptions } from './world.ts'

const { Make, Repair, Remove } = VolumeWork
const { Initializing, Ready, Busy, Error: Failed } = VolumePhase

describe('a volume as a workflow', () => {
  let env: TestWorkflowEnvironment
  let world: VolumeWorld
  before(async () => {
    env = await startTimeSkipping()
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

  /**
   * Skips 90 s and waits for the phase. Pauses between two tries are measured by the server's clock, which
   * goes on only while a test sleeps on it.
   */
  async function reachesLater(phase: VolumePhase): Promise<VolumeRecord> {
    await env.sleep('90 seconds')
    return world.reachesPhase(phase)
  }

  it('is made with one call of its host, and shown at each step', async () => {
    await beginReady()
    assert.deepEqual(world.host.calls, [Make])
    assert.equal(world.host.formatted, 1)
    assert.deepEqual(world.row.record, { phase: Ready, made: true })
    assert.ok(world.row.revision <= 2)
  })

  it('is asked of the host to which it moved, and its old host of nothing more', async () => {
    await beginReady()
    await world.moves()
    await world.moves()
    await world.control.repair(world.settings)
    await world.reachesPhase(Busy)
    await world.reachesPhase(Ready)
    await world.control.delete(world.settings)
    await world.gone
    assert.deepEqual([world.host.calls, world.otherHost.calls], [[Make], [Repair, Remove]])
  })

  it('is called off at its old host when it has moved, and done at the new one', async () => {
    const never = new Promise<void>(() => undefined)
    await beginReady({ gate: (work) => (work === Repair ? never : undefined) })
    await world.control.repair(world.settings)
    await world.reachesPhase(Busy)
    await until('the old host repairs it', () => world.host.count(Repair) === 1, { limitMs: 20_000 })
    await world.moves()
    await world.reachesPhase(Ready)
    assert.deepEqual([world.host.calledOff, world.otherHost.calls], [[Repair], [Repair]])
    assert.equal((await world.life()).nodeId, world.otherHost.nodeId)
  })

  it('rests once it is made: no call and no write, however long', async () => {
    await beginReady()
    const { revision } = world.row
    await env.sleep('30 days')
    assert.deepEqual(world.host.calls, [Make])
    assert.equal(world.row.revision, revision)
  })

  it('is still made after its host had no room for half a minute', async () => {
    await begin({
      failureOf: (work, attempt) => (work === Make && attempt < 6 ? HostFailure.HostFull : undefined),
    })
    await reachesLater(Ready)
    assert.equal(world.host.count(Make), 6)
    assert.deepEqual(
      world.row.written.map(({ phase }) => phase),
      [Initializing, Ready],
    )
  })

  it('is given up after about a minute without room, with the reason for its owner', async () => {
    await begin({ failureOf: (work) => (work === Make ? HostFailure.HostFull : undefined) })
    await env.sleep('50 seconds')
    assert.equal(world.row.record?.phase, Initializing)
    const given = await reachesLater(Failed)
    assert.deepEqual(given, { phase: Failed, made: false, failure: 'fake HostFull' })
    assert.equal(world.host.count(Make), 8)
    assert.equal(world.host.formatted, 0)
  })

  it('that was given up is made by a repair, once there is room', async () => {
    let full = true
    await begin({ failureOf: (work) => (work === Make && full ? HostFailure.HostFull : undefined) })
    await reachesLater(Failed)
    full = false
    await world.control.repair(world.settings)
    assert.deepEqual(await world.reachesPhase(Ready), { phase: Ready, made: true })
    assert.equal(world.host.count(Repair), 0)
  })

  it('that was given up is ready when a start of its instance made it', async () => {
    await begin({ failureOf: (work) => (work === Make ? HostFailure.HostFull : undefined) })
    await reachesLater(Failed)
    await world.tells({ kind: 'made' })
    await world.reachesPhase(Ready)
  })

  it('says where to look when its host has a defect', async () => {
    await begin({ failureOf: (work) => (work === Make ? 'defect' : undefined) })
    const { failure } = await reachesLater(Failed)
    assert.match(
      failure ?? '',
      /^host node-\w+ did not get it done \(an assertion failed\); its log says more$/,
    )
  })

  it('shows damage with its reason, and writes that once, however often its host tells', async () => {
    await beginReady()
    await world.tells({ kind: 'damaged', reason: 'its file is gone' })
    const failed = await world.reachesPhase(Failed)
    assert.deepEqual(failed, { phase: Failed, made: true, failure: 'its file is gone' })
    const { revision } = world.row
    await world.tells({ kind: 'damaged', reason: 'its file is gone' })
    await env.sleep('1 minute')
    assert.equal(world.row.revision, revision)
    assert.deepEqual(world.host.calls, [Make])
  })

  it('is repaired and not made again once it was made', async () => {
    await beginReady()
    await world.tells({ kind: 'damaged', reason: 'a lost inode table' })
    await world.reachesPhase(Failed)
    world.host.present = false
    await world.control.repair(world.settings)
    const busy = await world.reachesPhase(Busy)
    assert.equal(busy.failure, 'a lost inode table')
    assert.deepEqual(await world.reachesPhase(Ready), { phase: Ready, made: true })
    assert.deepEqual(world.host.calls, [Make, Repair])
    assert.equal(world.host.formatted, 1)
  })

  it('stays in error, with what its host found, if a repair is not enough', async () => {
    await beginReady({ failureOf: (work) => (work === Repair ? HostFailure.VolumeUnusable : undefined) })
    await world.control.repair(world.settings)
    const failed = await world.reachesPhase(Failed)
    assert.equal(failed.failure, 'fake VolumeUnusable')
    assert.equal(world.host.count(Repair), 1)
  })

  it('is ready again, as before, if a VM has it for as long as a repair waits', async () => {
    await beginReady({ failureOf: (work) => (work === Repair ? HostFailure.VolumeInUse : undefined) })
    await world.control.repair(world.settings)
    await world.reachesPhase(Busy)
    assert.deepEqual(await reachesLater(Ready), { phase: Ready, made: true })
    assert.equal(world.host.count(Repair), 8)
  })

  it('is removed by its deletion, then its row is deleted', async () => {
    await beginReady()
    await world.control.delete(world.settings)
    await world.gone
    assert.deepEqual(world.host.calls, [Make, Remove])
    assert.equal(world.host.present, false)
  })

  it('is removed as soon as no VM has it any more, after hours if need be', async () => {
    const freeAtMs = (await env.currentTimeMs()) + 3 * 3_600_000
    let nowMs = 0
    await beginReady({
      failureOf: (work) => (work === Remove && nowMs < freeAtMs ? HostFailure.VolumeInUse : undefined),
    })
    await world.control.delete(world.settings)
    await env.sleep('10 minutes')
    assert.ok(world.host.count(Remove) > 60)
    assert.equal(world.host.present, true)
    nowMs = freeAtMs
    await env.sleep('10 seconds')
    await world.gone
    assert.equal(world.host.present, false)
  })

  it('is removed also after failures of its host that are final for other work', async () => {
    await beginReady({
      failureOf: (work, attempt) => (work === Remove && attempt < 3 ? HostFailure.VolumeUnusable : undefined),
    })
    await world.control.delete(world.settings)
    await env.sleep('1 minute')
    await world.gone
    assert.equal(world.host.count(Remove), 3)
  })

  it('that is deleted before its workflow was started is not made, and never shown as if it were', async () => {
    world = await createVolumeWorld(env)
    await world.control.delete(world.settings)
    await world.gone
    assert.deepEqual(world.host.calls, [Remove])
    assert.deepEqual(world.row.written, [])
  })

  it('that is deleted between two tries to make it is not tried again', async () => {
    await begin({ failureOf: (work) => (work === Make ? HostFailure.HostFull : undefined) })
    await world.reachesPhase(Initializing)
    await world.control.delete(world.settings)
    await world.gone
    assert.ok(world.host.count(Make) < 8)
    assert.equal(world.host.calls.at(-1), Remove)
  })

  it('that is gone refuses a repair, and accepts a second deletion', async () => {
    await beginReady()
    await world.control.delete(world.settings)
    await world.gone
    await env.client.workflow.getHandle(world.id).result()
    await assert.rejects(world.control.repair(world.settings), VolumeGone)
    await world.control.delete(world.settings)
  })

  it('is written down when the database comes back', async () => {
    await begin({ writeFails: (nth) => nth <= 12 })
    await reachesLater(Ready)
    assert.deepEqual(world.row.record, { phase: Ready, made: true })
  })
})
