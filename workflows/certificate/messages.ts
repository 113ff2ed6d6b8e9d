import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { CertificateLife } from '../../src/domain/certificate/lifecycle.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** The messages to the workflow `certificate/<uuid>`, beside those that every entity takes. */

export const certificateWorkflowType = 'certificate'

export function certificateWorkflowId(certificateUuid: string): string {
  return entityWorkflowId(certificateWorkflowType, certificateUuid)
}

/** The certificate's owner or an operator wants an attempt now, and not when the next one is due. */
export const retrySignal = defineSignal('retry')
export const certificateLifeQuery = defineQuery<CertificateLife>(lifeQueryName)
