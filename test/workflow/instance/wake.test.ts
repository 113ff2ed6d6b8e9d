import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import type { HostEvent } from '../../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { exitReport, startReport } from '../../support/fake-host.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const scaleToZero = { policy: 'on', cooldownMs: 0, stateful: false } as const
const soon = { limitMs: 30_000 }

describe('an instance that its host wakes', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: WorldOptions = {}): Promise<void> {
    world = await beginWorld(env, { ...options, settings: { scaleToZero, ...options.settings } })
    await world.tellsIdle(1)
  }

  /**
   * Begins an instance that already sleeps at its host, while the workflow has no answer to its order yet.
   * The answer comes when `answer` is called.
   */
  async function beginUnanswered(): Promise<{ readonly answer: () => Promise<void> }> {
    const gate = Promise.withResolvers<void>()
    await begin({ standByAnswerGate: () => gate.promise })
    await until('it sleeps at its host', () => world.host.permit === 2, soon)
    const answer = async (): Promise<void> => {
      gate.resolve()
      await until('the order was answered', async () => !(await pending()).includes('standByInstance'), soon)
    }
    return { answer }
  }

  async function pending(): Promise<readonly string[]> {
    const { raw } = await env.client.workflow.getHandle(world.id).describe()
    return (raw.pendingActivities ?? []).map((each) => each.activityType?.name ?? '')
  }

  const waking = (atMs: number): HostEvent => ({ kind: 'waking', boot: 2, atMs })
  const started = (atMs: number): HostEvent => ({ kind: 'started', started: startReport(2, atMs) })
  const failed: HostEvent = { kind: 'wake-failed', boot: 2, failure: HostFailure.HostFull, message: 'full' }

  const orders = [
    ['answer', 'waking', 'started'],
    ['answer', 'started', 'waking'],
    ['waking', 'answer', 'started'],
    ['waking', 'started', 'answer'],
    ['started', 'answer', 'waking'],
    ['started', 'waking', 'answer'],
    ['started', 'started', 'answer'],
  ] as const
  for (const order of orders) {
    it(`runs in the permit's boot when it hears of ${order.join(', then ')}`, async () => {
      const { answer } = await beginUnanswered()
      const { startedAtMs } = await world.host.wake()
      for (const word of order) {
        if (word === 'answer') await answer()
        else await world.tells(word === 'waking' ? waking(startedAtMs) : started(startedAtMs))
      }
      const woken = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      assert.deepEqual([woken.startCount, woken.restartCount, woken.stopReason], [2, 0, undefined])
      assert.deepEqual(
        world.host.calls.map(({ call }) => call),
        ['start', 'stand-by'],
      )
      assert.deepEqual(world.host.overlaps, [])
      // The wake has used the permit, so this stop ends the boot that runs, and no other boot.
      await world.control.stop(world.settings, { force: false, drainTimeoutMs: 0 }, 'stop')
      const stopped = await world.reachesState(InstanceState.Stopped)
      assert.deepEqual([stopped.boot, world.host.running.size], [2, 0])
    })
  }

  for (const order of [
    ['answer', 'waking', 'failed'],
    ['waking', 'answer', 'failed'],
    ['waking', 'failed', 'answer'],
  ] as const) {
    it(`sleeps on with the reason when it hears of ${order.join(', then ')}, and the next traffic wakes it`, async () => {
      const { answer } = await beginUnanswered()
      for (const word of order) {
        if (word === 'answer') await answer()
        else await world.tells(word === 'waking' ? waking(await env.currentTimeMs()) : failed)
      }
      const asleep = await world.reaches(
        ({ failure, state, stopReason }) =>
          failure !== undefined && state === InstanceState.Standby && stopReason === 7,
      )
      assert.deepEqual([asleep.failure, asleep.boot, asleep.startCount, asleep.exitCode], ['full', 1, 1, 0])
      await world.wakes()
      const woken = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      assert.deepEqual([woken.failure, woken.startCount], [undefined, 2])
    })
  }

  it('and that ends before the workflow hears of the wake is stopped with that end', async () => {
    const { answer } = await beginUnanswered()
    const { startedAtMs } = await world.host.wake()
    world.host.running.delete(2)
    await world.tells({ kind: 'exited', exit: exitReport(2, startedAtMs + 5, { exitCode: 3 }) })
    await world.reaches(({ boot, exitCode }) => boot === 2 && exitCode === 3)
    await world.tells(waking(startedAtMs), started(startedAtMs))
    await answer()
    const stopped = await world.reaches(({ startedAtMs: known }) => known === startedAtMs)
    assert.deepEqual([stopped.state, stopped.boot, stopped.startCount], [InstanceState.Stopped, 2, 2])
  })
})
