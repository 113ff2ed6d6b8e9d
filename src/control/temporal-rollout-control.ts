import type { Client } from '@temporalio/client'
import { RolloutPhase } from '../domain/rollout/phase.ts'
import type { RolloutSettings } from '../domain/rollout/settings.ts'
import { lookAgainSignal, rolloutWorkflowId, rolloutWorkflowType } from '../../workflows/rollout/messages.ts'
import { stateAttribute, userAttribute } from '../../workflows/search-attributes.ts'
import type { RolloutControl } from './rollout-control.ts'
import { createEntityCalls } from './temporal-calls.ts'

export function createRolloutControl(client: Client): RolloutControl {
  const calls = createEntityCalls(client, { type: rolloutWorkflowType, options: startOptions })
  return {
    ensureStarted: calls.ensureStarted,
    lookAgain: (rolloutUuid) => calls.tell(rolloutUuid, lookAgainSignal.name),
  }
}

function startOptions({ rolloutUuid, serviceName, userUuid }: RolloutSettings) {
  return {
    workflowId: rolloutWorkflowId(rolloutUuid),
    typedSearchAttributes: [
      { key: userAttribute, value: userUuid },
      { key: stateAttribute, value: RolloutPhase.Preparing },
    ],
    memo: { name: serviceName },
    staticSummary: `rollout of service ${serviceName}`,
  }
}
