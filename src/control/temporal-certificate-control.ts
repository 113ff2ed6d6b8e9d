import type { Client } from '@temporalio/client'
import {
  certificateWorkflowId,
  certificateWorkflowType,
  retrySignal,
} from '../../workflows/certificate/messages.ts'
import { deleteSignal } from '../../workflows/entity-messages.ts'
import { stateAttribute, userAttribute } from '../../workflows/search-attributes.ts'
import type { CertificateSettings } from '../domain/certificate/settings.ts'
import { CertificateState } from '../domain/service/handler.ts'
import type { CertificateControl } from './certificate-control.ts'
import { createEntityCalls } from './temporal-calls.ts'

export function createCertificateControl(client: Client): CertificateControl {
  const calls = createEntityCalls(client, { type: certificateWorkflowType, options: startOptions })
  return {
    ensureStarted: calls.ensureStarted,
    // If the workflow is over, another one starts. If the row has come back, for example from a backup, the
    // new workflow goes on from it; otherwise it ends at once.
    retry: (settings) => calls.signalAnew(settings, retrySignal),
    delete: (certificateUuid) => calls.tell(certificateUuid, deleteSignal.name),
    refresh: calls.refresh,
  }
}

function startOptions({ certificateUuid, name, userUuid, commonName, recorded }: CertificateSettings) {
  return {
    workflowId: certificateWorkflowId(certificateUuid),
    typedSearchAttributes: [
      { key: userAttribute, value: userUuid },
      { key: stateAttribute, value: recorded?.state ?? CertificateState.Pending },
    ],
    memo: { name },
    staticSummary: `certificate ${name} for ${commonName}`,
  }
}
