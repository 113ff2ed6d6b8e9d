import type { AutoscaleControl } from '../../src/control/autoscale-control.ts'
import { ControlUnavailable } from '../../src/control/control-unavailable.ts'

/** What goes wrong in a test. */
export interface FakeAutoscaleFaults {
  /** Nothing answers, as when Temporal is away. */
  isAway?: boolean
}

/** Workflows of configurations that only listen: what they would do to the rows is for the test to do. */
export interface FakeAutoscaleControl extends AutoscaleControl {
  readonly faults: FakeAutoscaleFaults
  /** `configured <service uuid>` and the like, in order. */
  readonly calls: string[]
}

export function createFakeAutoscaleControl(): FakeAutoscaleControl {
  const faults: FakeAutoscaleFaults = {}
  const calls: string[] = []

  async function called(name: string, serviceUuid: string): Promise<void> {
    calls.push(`${name} ${serviceUuid}`)
    if (faults.isAway === true) throw new ControlUnavailable('nobody answers')
  }

  return {
    faults,
    calls,
    ensureStarted: ({ serviceUuid }) => called('ensureStarted', serviceUuid),
    configured: ({ serviceUuid }) => called('configured', serviceUuid),
    delete: ({ serviceUuid }) => called('delete', serviceUuid),
    refresh: (serviceUuid) => called('refresh', serviceUuid),
    async callInWatch(serviceUuid) {
      await called('callInWatch', serviceUuid)
      return true
    },
    async seen(serviceUuid) {
      await called('seen', serviceUuid)
      return undefined
    },
  }
}
