import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { beginWorld, createWorld } from './world.ts'
import type { World } from './world.ts'

const scaleToZero = { policy: 'on', cooldownMs: 500, stateful: true } as const
const soon = { limitMs: 20_000 }

describe('standby on the server that the stack runs', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function says(...parts: readonly RegExp[]): Promise<void> {
    await until(
      String(parts),
      async () => {
        const text = await world.details()
        return parts.every((part) => part.test(text))
      },
      soon,
    )
  }

  /** Returns the summary that the Web UI shows beside each timer. */
  async function timerSummaries(): Promise<readonly string[]> {
    const { events } = await env.client.workflow.getHandle(world.id).fetchHistory()
    return (events ?? [])
      .filter((event) => event.timerStartedEventAttributes != null)
      .map(
        (event) =>
          JSON.parse(new TextDecoder().decode(event.userMetadata?.summary?.data ?? undefined)) as string,
      )
  }

  it('is explained by the details at every step, and the cooldown by its timer', async () => {
    const gate = Promise.withResolvers<void>()
    world = await beginWorld(env, { settings: { scaleToZero }, standByGate: () => gate.promise })
    const { nodeId } = world.settings
    await says(
      /\*\*running\*\* .*has not yet told that nothing asked for it for 0.5 s/,
      /next: standby when nothing has asked for it for 0.5 s/,
    )
    await world.tellsIdle(1)
    await says(
      /idle, and being sent to standby/,
      new RegExp(`next: host ${nodeId} sends it to standby, unless traffic comes`),
    )
    assert.match((await timerSummaries())[0] ?? '', /^standby at \S+ unless traffic comes$/)
    gate.resolve()
    await says(
      /\*\*standby\*\* since \S+, because nothing asked for it, its memory is kept in snapshot snapshot-of-1/,
      /next: nothing, until traffic or a start wakes it/,
    )
    const { boot, startedAtMs } = await world.host.wake()
    await world.tells({ kind: 'waking', boot, atMs: startedAtMs })
    await says(
      /\*\*starting\*\* by traffic, out of standby/,
      new RegExp(`next: host ${nodeId} wakes it; it is asked how that goes at `),
    )
    await world.tells({ kind: 'wake-failed', boot, failure: HostFailure.HostFull, message: 'no memory left' })
    await says(/\*\*standby\*\*/, /the last try failed: no memory left/)
    await world.tells({ kind: 'disabled', boot, disabled: true })
  })

  it('is explained from the creation on, and while the instance blocks it', async () => {
    world = await beginWorld(env, { settings: { scaleToZero, autostart: false } })
    await says(/\*\*standby\*\* from its creation: nothing has asked for it yet/, /never started/)
    await until('the permit', () => world.host.permit === 1, soon)
    await world.wakes()
    await world.tells({ kind: 'disabled', boot: 1, disabled: true })
    await says(
      /\*\*running\*\* .*by traffic, out of standby; kept awake by itself: its scale_to_zero_disable count/,
    )
  })

  it('goes on when its workers are restarted: in the cooldown, with the order out, asleep and woken', async () => {
    let gate = Promise.withResolvers<void>()
    world = await beginWorld(env, {
      settings: { scaleToZero: { ...scaleToZero, cooldownMs: 2_000 } },
      standByGate: () => gate.promise,
    })
    await world.tellsIdle(1)
    await world.restartWorkers()
    await until('the order is out', () => world.host.orders.length === 1, soon)
    await world.restartWorkers()
    gate.resolve()
    gate = Promise.withResolvers<void>()
    gate.resolve()
    await world.reachesState(InstanceState.Standby)
    await world.restartWorkers()
    await world.wakes()
    const woken = await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    assert.deepEqual([woken.startCount, woken.snapshotUuid], [2, undefined])
    assert.ok(world.host.orders.every(({ boot, epoch, permit }) => boot === 1 && epoch === 1 && permit === 2))
    assert.deepEqual(world.host.overlaps, [])
  })

  it('its host stops a failed start between two tries, and one that is given up', async () => {
    world = await createWorld(env, { failureOf: () => HostFailure.HostFull })
    await world.control.ensureStarted(world.settings)
    await world.reaches(({ failure }) => failure !== undefined)
    const stop = { force: false, drainTimeoutMs: 0 }
    const answer = await world.control.stop(world.settings, stop, 'stop')
    assert.equal(answer.state, InstanceState.Stopping)
    const stopped = await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: stopped.boot, forced: false })
    const { boot } = stopped
    await world.control.start(world.settings, 'start')
    await world.reaches((row) => row.boot === boot + 3 && row.state === InstanceState.Stopped)
    await until('its host ends the last boot', () => world.host.calls.at(-1)?.call === 'stop', soon)
    assert.deepEqual(world.host.calls.at(-1), { call: 'stop', boot: boot + 3, forced: true })
  })
})
