import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceGone } from '../../../src/domain/instance/instance-gone.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { hostEventSignal } from '../../../workflows/instance/messages.ts'
import { exitReport, startReport } from '../../support/fake-host.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { createWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const graceful = { force: false, drainTimeoutMs: 0 }
const byForce = { force: true, drainTimeoutMs: 0 }

describe('an instance as a workflow', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startTimeSkipping()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: WorldOptions = {}): Promise<void> {
    world = await createWorld(env, options)
    await world.control.ensureStarted(world.settings)
  }

  async function beginRunning(options: WorldOptions = {}): Promise<void> {
    await begin(options)
    await world.reachesState(InstanceState.Running)
  }

  it('with autostart reaches running with one write and one call of the host', async () => {
    await beginRunning()
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
    assert.equal(world.row.written.length, 1)
    assert.equal(world.row.record?.startCount, 1)
  })

  it('without autostart does nothing until it is started', async () => {
    await begin({ settings: { autostart: false } })
    await env.sleep('1 hour')
    assert.deepEqual(world.host.calls, [])
    const answer = await world.control.start(world.settings, 'a')
    assert.deepEqual(answer, { previousState: 'stopped', state: 'starting', revision: 1 })
    await world.reachesState(InstanceState.Running)
  })

  it('whose workflow does not run yet gets one with its first command', async () => {
    world = await createWorld(env, { settings: { autostart: false } })
    const answer = await world.control.start(world.settings, 'a')
    assert.equal(answer.state, InstanceState.Starting)
    await world.reachesState(InstanceState.Running)
  })

  it('a command that is repeated with the same id acts once, also after a continue-as-new', async () => {
    await beginRunning()
    const first = await world.control.stop(world.settings, graceful, 'once')
    await world.reachesState(InstanceState.Stopped)
    await world.control.refresh(world.settings.instanceUuid)
    await world.control.start(world.settings, 'again')
    await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.deepEqual(await world.control.stop(world.settings, graceful, 'once'), first)
    assert.equal((await env.client.workflow.getHandle(world.id).describe()).status.name, 'RUNNING')
    assert.equal(world.row.record?.state, InstanceState.Running)
  })

  it('a start while it stops is remembered, and starts the next boot when the first has ended', async () => {
    const gate = Promise.withResolvers<void>()
    await beginRunning({ stopGate: () => gate.promise })
    await world.control.stop(world.settings, graceful, 'stop')
    const answer = await world.control.start(world.settings, 'start')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Stopping, InstanceState.Stopping])
    gate.resolve()
    const again = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.deepEqual([again.startCount, again.restartCount], [2, 0])
    assert.deepEqual(world.host.overlaps, [])
  })

  it('a stop while it starts calls the start off and ends that boot', async () => {
    await begin({ startGate: () => new Promise(() => undefined) })
    await env.sleep('1s')
    const answer = await world.control.stop(world.settings, graceful, 'stop')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Starting, InstanceState.Stopping])
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual([stopped.boot, stopped.stopReason], [1, 12])
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: 1, forced: false })
  })

  it('a forced stop takes the place of a graceful one that hangs', async () => {
    await beginRunning({ stopGate: () => new Promise(() => undefined) })
    await world.control.stop(world.settings, graceful, 'stop')
    await world.control.stop(world.settings, byForce, 'force')
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.equal(stopped.stopReason, 28)
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: 1, forced: true })
  })

  it('a stop with a drain answers draining, and ends at once if nothing is connected', async () => {
    await beginRunning()
    const answer = await world.control.stop(world.settings, { force: false, drainTimeoutMs: 60_000 }, 'drain')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Running, InstanceState.Draining])
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual([stopped.stopReason, stopped.exitCode], [15, 0])
  })

  it('an end that its host signals twice, and for an older boot, counts once', async () => {
    await beginRunning({ settings: { restartPolicy: RestartPolicy.Always } })
    const handle = env.client.workflow.getHandle(world.id)
    const exit = exitReport(1, await env.currentTimeMs(), { exitCode: 3 })
    world.host.running.delete(1)
    for (let times = 0; times < 3; times++) await handle.signal(hostEventSignal, { kind: 'exited', exit })
    const again = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    await handle.signal(hostEventSignal, { kind: 'exited', exit })
    assert.deepEqual([again.restartCount, again.startCount], [1, 2])
    const life = await world.life()
    assert.deepEqual([life.boot, life.state], [2, InstanceState.Running])
  })

  it('the first socket that its host saw listening is in its row, and a repeat writes nothing', async () => {
    await beginRunning()
    const handle = env.client.workflow.getHandle(world.id)
    const startedAtMs = world.row.record?.startedAtMs ?? 0
    const started = { ...startReport(1, startedAtMs), netTimeUs: 40_000 }
    for (let times = 0; times < 2; times++) await handle.signal(hostEventSignal, { kind: 'started', started })
    const listening = await world.reaches(({ netTimeUs }) => netTimeUs === 40_000)
    assert.deepEqual([listening.state, listening.boot], [InstanceState.Running, 1])
    assert.equal((await world.life()).revision, 2)
  })

  it('a halted host starts its instance again, whatever the restart policy', async () => {
    await beginRunning({ settings: { restartPolicy: RestartPolicy.Never } })
    world.host.running.delete(1)
    const exit = exitReport(1, await env.currentTimeMs(), { cause: 'host-halted', exitCode: 0 })
    await env.client.workflow.getHandle(world.id).signal(hostEventSignal, { kind: 'exited', exit })
    const again = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.deepEqual([again.startCount, again.restartCount], [2, 0])
  })

  it('an image that can not run leaves it stopped with the reason, after one call', async () => {
    await begin({
      failureOf: () => HostFailure.ImageUnusable,
      settings: { restartPolicy: RestartPolicy.Always },
    })
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.equal(stopped.failure, 'fake ImageUnusable')
    assert.equal(world.host.calls.length, 1)
  })

  it('a delete ends what runs, cleans the host, removes the row and refuses what comes after it', async () => {
    await beginRunning()
    await world.control.delete(world.settings)
    await world.gone
    await env.client.workflow.getHandle(world.id).result()
    assert.deepEqual(world.host.calls.at(-1), { call: 'remove' })
    await assert.rejects(world.control.start(world.settings, 'late'), InstanceGone)
    await world.control.ensureStarted(world.settings)
    assert.equal((await env.client.workflow.getHandle(world.id).describe()).status.name, 'COMPLETED')
  })

  it('a delete that comes before its workflow is started removes it all the same', async () => {
    world = await createWorld(env, { settings: { autostart: false } })
    await world.control.delete(world.settings)
    await world.gone
    assert.deepEqual(world.host.calls, [])
  })

  it('delete-on-stop hides the row, cleans the host and is over', async () => {
    await beginRunning({ settings: { deleteOnStop: true } })
    await world.control.stop(world.settings, graceful, 'stop')
    await world.gone
    assert.equal(world.row.isHidden, true)
    assert.equal(world.row.record?.state, InstanceState.Stopped)
    assert.deepEqual(world.host.calls.at(-1), { call: 'remove' })
  })

  it('a refresh continues it as new without a trace in its state', async () => {
    await beginRunning()
    const handle = env.client.workflow.getHandle(world.id)
    const before = await handle.describe()
    await world.control.refresh(world.settings.instanceUuid)
    const answer = await world.control.start(world.settings, 'after')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Running, InstanceState.Running])
    const after = await handle.describe()
    assert.notEqual(after.runId, before.runId)
    assert.deepEqual(world.host.calls, [{ call: 'start', boot: 1 }])
  })
})
