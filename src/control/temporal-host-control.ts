import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Client } from '@temporalio/client'
import { HostPhase } from '../domain/host/loss.ts'
import { controlTaskQueue } from '../domain/instance/host-work.ts'
import { hostWorkflowId, hostWorkflowType, lookAtHostSignal } from '../../workflows/host/messages.ts'
import { nodeAttribute, stateAttribute } from '../../workflows/search-attributes.ts'
import type { HostControl } from './host-control.ts'
import { inTime, workflowTaskTimeoutMs } from './temporal-calls.ts'

export function createHostControl(client: Client): HostControl {
  return {
    async ensureStarted(hostId) {
      try {
        await inTime(client, () => client.workflow.start(hostWorkflowType, startOptions(hostId)))
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      }
    },
    async lookAgain(hostId) {
      const signal = { signal: lookAtHostSignal, signalArgs: [] }
      await inTime(client, () =>
        client.workflow.signalWithStart(hostWorkflowType, { ...startOptions(hostId), ...signal }),
      )
    },
  }
}

/** A host is silent again and again, so each time another workflow has its id. */
function startOptions(hostId: string) {
  return {
    workflowId: hostWorkflowId(hostId),
    args: [{ hostId }],
    taskQueue: controlTaskQueue,
    // Hosts take one turn among all users.
    priority: { fairnessKey: hostWorkflowType },
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    workflowTaskTimeout: workflowTaskTimeoutMs,
    typedSearchAttributes: [
      { key: nodeAttribute, value: hostId },
      { key: stateAttribute, value: HostPhase.Silent },
    ],
    staticSummary: `host ${hostId}, which is not heard`,
  }
}
