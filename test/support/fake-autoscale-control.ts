import type { AutoscaleControl } from '../../src/control/autoscale-control.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/**
 * A control whose workflows do nothing: a test itself changes the rows as the workflow would. Calls are
 * noted, for example as `configured <service uuid>`.
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
