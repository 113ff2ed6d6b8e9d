import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { CertificateLife } from '../../src/domain/certificate/lifecycle.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** What the world says to `certificate/<uuid>`, beside what it says to every entity. */
export const certificateWorkflowType = 'certificate'

export function certificateWorkflowId(certificateUuid: string): string {
  return entityWorkflowId(certificateWorkflowType, certificateUuid)
}

/** Its owner's or an operator's: now, and not when the next attempt is due. */
export const retrySignal = defineSignal('retry')
export const certificateLifeQuery = defineQuery<CertificateLife>(lifeQueryName)
