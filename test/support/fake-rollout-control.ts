import type { RolloutControl } from '../../src/control/rollout-control.ts'
import type { RolloutSettings } from '../../src/domain/rollout/settings.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/** A control that only remembers which workflows would run. */
export interface FakeRolloutControl extends RolloutControl, FakeCalls {
  readonly started: RolloutSettings[]
}

export function createFakeRolloutControl(): FakeRolloutControl {
  const { faults, calls, called } = noteCalls()
  const started: RolloutSettings[] = []
  return {
    faults,
    calls,
    started,
    async ensureStarted(settings) {
      called('ensureStarted')
      started.push(settings)
    },
    async lookAgain() {
      called('lookAgain')
    },
  }
}
