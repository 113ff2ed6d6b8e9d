import type { CertificateControl } from '../../src/control/certificate-control.ts'
import { noteCalls } from './fake-calls.ts'
import type { FakeCalls } from './fake-calls.ts'

/**
 * Certificates whose workflows only listen: what they would write is for the test to write. The workflow has
 * its own tests. Calls are noted as `ensureStarted <uuid>` and the like.
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
