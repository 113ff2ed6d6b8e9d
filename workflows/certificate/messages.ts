import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { CertificateLife } from '../../src/domain/certificate/lifecycle.ts'

/** What the world says to `certificate/<uuid>`, beside what it says to every entity. */
export const certificateWorkflowType = 'certificate'

export function certificateWorkflowId(certificateUuid: string): string {
  return `certificate/${certificateUuid}`
}

/** Its owner's or an operator's: now, and not when the next attempt is due. */
export const retrySignal = defineSignal('retry')
/** For people and tests; readers of the API are answered from PostgreSQL. */
export const certificateLifeQuery = defineQuery<CertificateLife>('life')
