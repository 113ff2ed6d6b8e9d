import { strict as assert } from 'node:assert'
import { InstanceState, instanceStates } from '../../../src/domain/instance/state.ts'
import { RunResult, decideRun, stopPatienceMs } from '../../../src/domain/schedule/run.ts'
import type { RunFacts, RunInstance } from '../../../src/domain/schedule/run.ts'

const startedAtMs = 1_000_000
const timeoutMs = 600_000
const overMs = startedAtMs + timeoutMs

function facts(instance: RunInstance | undefined, more: Partial<RunFacts> = {}): RunFacts {
  return { startedAtMs, timeoutMs, ...(instance && { instance }), ...more }
}

const running = { state: InstanceState.Running }

describe('a run of a schedule', () => {
  it('waits as long as its instance is not stopped, in whatever state that is', () => {
    for (const state of instanceStates) {
      const step = decideRun(facts({ state }), startedAtMs)
      assert.equal(step.kind, state === InstanceState.Stopped ? 'end' : 'wait', state)
    }
  })

  it('looks more seldom the longer it takes, and never later than its time is over', () => {
    const pauseAt = (sinceMs: number) => {
      const step = decideRun(facts(running), startedAtMs + sinceMs)
      return step.kind === 'wait' ? step.ms : step.kind
    }
    assert.deepEqual([0, 20_000, 60_000, 400_000].map(pauseAt), [1_000, 1_000, 3_000, 20_000])
    assert.equal(pauseAt(timeoutMs - 10), 10)
    const day = { timeoutMs: 86_400_000 }
    assert.deepEqual(decideRun(facts(running, day), startedAtMs + 80_000_000), { kind: 'wait', ms: 60_000 })
  })

  it('has succeeded if its application ended with code 0, and failed with any other end', () => {
    const end = (instance: Omit<RunInstance, 'state'>) =>
      decideRun(facts({ state: InstanceState.Stopped, ...instance }), startedAtMs)
    assert.deepEqual(end({ exitCode: 0 }), {
      kind: 'end',
      result: RunResult.Succeeded,
      reason: 'it ended with exit code 0',
    })
    for (const [instance, reason] of [
      [{ exitCode: 3 }, 'it ended with exit code 3'],
      [{ failure: 'the image is gone' }, 'the image is gone'],
      [{}, 'its application did not end by itself'],
    ] as const) {
      assert.deepEqual(end(instance), { kind: 'end', result: RunResult.Failed, reason })
    }
  })

  it('fails if somebody deletes its instance', () => {
    assert.partialDeepStrictEqual(decideRun(facts(undefined), startedAtMs), {
      result: RunResult.Failed,
      reason: 'its instance was deleted',
    })
  })

  it('stops its instance once its time is over, waits for it, and has failed whatever its exit code is', () => {
    assert.deepEqual(decideRun(facts(running), overMs), { kind: 'stop' })
    const asked = { stopAskedAtMs: overMs }
    assert.deepEqual(decideRun(facts(running, asked), overMs), { kind: 'wait', ms: 1_000 })
    const stopped = { state: InstanceState.Stopped, exitCode: 0 }
    const late = {
      kind: 'end',
      result: RunResult.Failed,
      reason: 'it took longer than the 600 s that it may take, and was stopped',
    }
    assert.deepEqual(decideRun(facts(stopped, asked), overMs + 5), late)
    assert.deepEqual(decideRun(facts(running, asked), overMs + stopPatienceMs), late)
  })
})
