import type { CertificateControl } from '../../src/control/certificate-control.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/**
 * A control whose workflows do nothing: a test itself writes what the workflow would write. The workflow has
 * its own tests. Calls are noted, for example as `ensureStarted <uuid>`.
 */
export interface FakeCertificateControl extends CertificateControl, FakeCalls {}

export function createFakeCertificateControl(): FakeCertificateControl {
  const { faults, calls, called } = noteCalls()
  return {
    faults,
    calls,
    ensureStarted: async ({ certificateUuid }) => called(`ensureStarted ${certificateUuid}`),
    retry: async ({ certificateUuid }) => called(`retry ${certificateUuid}`),
    delete: async (certificateUuid) => called(`delete ${certificateUuid}`),
    refresh: async (certificateUuid) => called(`refresh ${certificateUuid}`),
  }
}
