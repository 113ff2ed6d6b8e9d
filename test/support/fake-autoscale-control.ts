import type { AutoscaleControl } from '../../src/control/autoscale-control.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/**
 * Workflows of configurations that only listen: what they would do to the rows is for the test to do. Calls
 * are noted as `configured <service uuid>` and the like.
 */
export interface FakeAutoscaleControl extends AutoscaleControl, FakeCalls {}

export function createFakeAutoscaleControl(): FakeAutoscaleControl {
  const { faults, calls, called } = noteCalls()
  return {
    faults,
    calls,
    ensureStarted: async ({ serviceUuid }) => called(`ensureStarted ${serviceUuid}`),
    configured: async ({ serviceUuid }) => called(`configured ${serviceUuid}`),
    delete: async ({ serviceUuid }) => called(`delete ${serviceUuid}`),
    refresh: async (serviceUuid) => called(`refresh ${serviceUuid}`),
    async callInWatch(serviceUuid) {
      called(`callInWatch ${serviceUuid}`)
      return true
    },
    async seen(serviceUuid) {
      called(`seen ${serviceUuid}`)
      return undefined
    },
  }
}
