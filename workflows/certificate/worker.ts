import { isCancellation } from '@temporalio/workflow'
import type { CertificateLifeEvent, CertificateWork } from '../../src/domain/certificate/lifecycle.ts'
import { eventOfTrouble, perform } from './calls.ts'
import { createOneWork } from '../one-work.ts'
import type { OneWork } from '../one-work.ts'

/** Carries out the steps, one at a time. */
export function createCertificateWorker(of: {
  readonly certificateUuid: string
  readonly say: (event: CertificateLifeEvent) => void
  readonly onDone: () => void
}): OneWork<CertificateWork> {
  const { certificateUuid, onDone } = of

  async function carryOut(work: CertificateWork): Promise<void> {
    try {
      of.say(await perform(work, { certificateUuid }))
    } catch (error) {
      if (!isCancellation(error)) of.say(eventOfTrouble(work, error))
    }
  }

  return createOneWork({ carryOut, onDone })
}
