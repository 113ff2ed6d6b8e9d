import type { CertificateControl } from '../../src/control/certificate-control.ts'
import { ControlUnavailable } from '../../src/control/control-unavailable.ts'

/** What goes wrong in a test. */
export interface FakeCertificateFaults {
  /** Nothing answers, as when Temporal is away. */
  isAway?: boolean
}

/**
 * Certificates whose workflows only listen: what they would write is for the test to write. The workflow has
 * its own tests.
 */
export interface FakeCertificateControl extends CertificateControl {
  readonly faults: FakeCertificateFaults
  /** `ensureStarted <uuid>` and the like, in order. */
  readonly calls: string[]
}

export function createFakeCertificateControl(): FakeCertificateControl {
  const faults: FakeCertificateFaults = {}
  const calls: string[] = []

  async function called(name: string, uuid: string): Promise<void> {
    calls.push(`${name} ${uuid}`)
    if (faults.isAway === true) throw new ControlUnavailable('nobody answers')
  }

  return {
    faults,
    calls,
    ensureStarted: ({ certificateUuid }) => called('ensureStarted', certificateUuid),
    retry: ({ certificateUuid }) => called('retry', certificateUuid),
    delete: (certificateUuid) => called('delete', certificateUuid),
    refresh: (certificateUuid) => called('refresh', certificateUuid),
  }
}
