import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { startTimeSkipping } from '../../support/temporal.ts'
import { createWorld } from './world.ts'
import type { World } from './world.ts'

describe('restarts of an instance, in time that is skipped', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startTimeSkipping()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  it('an instance that crashes at once every time restarts at 0, 5, 10, 20, 40 s and so on to 5 minutes', async () => {
    const startsMs: number[] = []
    world = await createWorld(env, {
      settings: { restartPolicy: RestartPolicy.Always },
      endOf: () => ({ exitCode: 1 }),
      startGate: () => {
        const at = env.currentTimeMs().then((ms) => void startsMs.push(ms))
        return at
      },
    })
    await world.control.ensureStarted(world.settings)
    await env.sleep('21 minutes')
    // A pause includes the time that the machine takes for a start. So it is at least as long as its step,
    // and shorter than the next step.
    const steps = [0, 5, 10, 20, 40, 80, 160, 300, 300, 300]
    const below = [5, 10, 20, 40, 80, 160, 300, 330, 330, 330]
    const gaps = startsMs.slice(1).map((ms, index) => (ms - startsMs[index]!) / 1_000)
    assert.equal(gaps.length, steps.length, gaps.join(', '))
    for (const [index, gap] of gaps.entries())
      assert.ok(gap >= steps[index]! && gap < below[index]!, `pause ${index} of ${gaps.join(', ')} s`)
    const last = world.row.record
    assert.equal(last?.restartCount, 10)
    assert.equal(last?.restartAttempt, 10)
    assert.equal(last?.startCount, 11)
    assert.equal(last?.boot, 11)
    assert.ok((last?.restartNextAtMs ?? 0) > startsMs.at(-1)! + 299_000)
  })

  it('ten seconds without problems end the sequence, and the next crash restarts at once', async () => {
    world = await createWorld(env, {
      settings: { restartPolicy: RestartPolicy.OnFailure },
      endOf: (boot) => (boot <= 2 ? { signal: 11 } : undefined),
    })
    await world.control.ensureStarted(world.settings)
    await world.reaches(({ restartNextAtMs }) => restartNextAtMs !== undefined)
    await env.sleep('6s')
    await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
    assert.equal(world.row.record?.restartAttempt, 2)
    await env.sleep('11s')
    const reset = await world.reaches(({ restartAttempt }) => restartAttempt === 0)
    assert.equal(reset.state, InstanceState.Running)
    assert.equal(reset.restartCount, 2)
  })

  it('a stop by hand while it waits ends the sequence', async () => {
    world = await createWorld(env, {
      settings: { restartPolicy: RestartPolicy.Always },
      endOf: () => ({ exitCode: 1 }),
    })
    await world.control.ensureStarted(world.settings)
    const waiting = await world.reaches(({ restartNextAtMs }) => restartNextAtMs !== undefined)
    const stop = { force: false, drainTimeoutMs: 0 }
    const answer = await world.control.stop(world.settings, stop, 'stop-1')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Stopped, InstanceState.Stopped])
    await world.reaches(({ restartNextAtMs }) => restartNextAtMs === undefined)
    await env.sleep('10 minutes')
    assert.equal(world.row.record?.boot, waiting.boot)
  })

  it('a start by hand while it waits starts at once with a fresh sequence', async () => {
    world = await createWorld(env, {
      settings: { restartPolicy: RestartPolicy.Always },
      endOf: (boot) => (boot <= 2 ? { exitCode: 1 } : undefined),
    })
    await world.control.ensureStarted(world.settings)
    await world.reaches(({ restartNextAtMs }) => restartNextAtMs !== undefined)
    const answer = await world.control.start(world.settings, 'start-1')
    assert.deepEqual([answer.previousState, answer.state], [InstanceState.Stopped, InstanceState.Starting])
    const running = await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
    assert.equal(running.restartAttempt, 0)
    assert.equal(running.restartCount, 1)
    assert.equal(running.startCount, 3)
  })
})
