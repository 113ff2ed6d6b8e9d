import type { HostControl } from '../../src/control/host-control.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/** A control that only remembers which hosts the workflows would look at. */
export interface FakeHostControl extends HostControl, FakeCalls {
  readonly lookedAt: string[]
}

export function createFakeHostControl(): FakeHostControl {
  const { faults, calls, called } = noteCalls()
  const lookedAt: string[] = []
  return {
    faults,
    calls,
    lookedAt,
    async ensureStarted(hostId) {
      called('ensureStarted')
      lookedAt.push(hostId)
    },
    async lookAgain(hostId) {
      called('lookAgain')
      lookedAt.push(hostId)
    },
  }
}
