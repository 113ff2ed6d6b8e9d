import { ActivityNotFoundError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Client, WorkflowExecutionDescription } from '@temporalio/client'
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common'
import {
  autoscaleLifeQuery,
  autoscaleWorkflowId,
  autoscaleWorkflowType,
  configuredSignal,
} from '../../workflows/autoscale/messages.ts'
import { stateAttribute, userAttribute } from '../../workflows/search-attributes.ts'
import { newAutoscaleLife } from '../domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../domain/autoscale/settings.ts'
import type { AutoscaleView } from '../domain/autoscale/watch.ts'
import type { AutoscaleControl, SeenAutoscale } from './autoscale-control.ts'
import { createEntityCalls, isOver } from './temporal-calls.ts'

export function createAutoscaleControl(client: Client): AutoscaleControl {
  const calls = createEntityCalls(client, { type: autoscaleWorkflowType, options: startOptions })
  return {
    async ensureStarted(settings) {
      // A service may be configured again at any time, so a workflow of an earlier configuration that ended
      // does not prevent the start.
      const options = { ...calls.startOptions(settings), workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const
      try {
        await calls.ask(() => client.workflow.start(autoscaleWorkflowType, options))
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      }
    },
    configured: (settings) => calls.signalAnew(settings, configuredSignal),
    delete: calls.delete,
    refresh: calls.refresh,
    async callInWatch(serviceUuid, living) {
      const workflowId = autoscaleWorkflowId(serviceUuid)
      try {
        const { raw } = await calls.ask(() => client.workflow.getHandle(workflowId).describe())
        const watch = raw.pendingActivities?.find((pending) => isLeftWatch(pending, living))
        if (watch === undefined) return false
        const activityId = String(watch.activityId)
        await calls.ask(() => client.activity.fail({ workflowId, activityId }, calledIn))
        return true
      } catch (error) {
        // The workflow or the watch ended meanwhile.
        if (isOver(error) || error instanceof ActivityNotFoundError) return false
        throw error
      }
    },
    async seen(serviceUuid) {
      const handle = client.workflow.getHandle(autoscaleWorkflowId(serviceUuid))
      try {
        const { raw, status } = await calls.ask(() => handle.describe())
        if (status.name !== 'RUNNING') return undefined
        const life = await calls.ask(() => handle.query(autoscaleLifeQuery))
        return { life, ...seenBy(raw.pendingActivities?.[0]) }
      } catch (error) {
        if (isOver(error)) return undefined
        throw error
      }
    },
  }
}

type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number]
/** The state of an activity that waits for a worker, or for its next attempt. */
const scheduledState = 1

/**
 * What a pending activity shows. A workflow of autoscale never has more than one, and only a watch sends
 * details with its heartbeats.
 */
function seenBy(pending: PendingActivity | undefined): Omit<SeenAutoscale, 'life'> {
  if (pending === undefined) return {}
  const [details] = pending.heartbeatDetails?.payloads ?? []
  const message = pending.lastFailure?.message
  return {
    ...(details && { view: defaultPayloadConverter.fromPayload<AutoscaleView>(details) }),
    // A failure is shown only until the next attempt begins.
    ...(message &&
      Number(pending.state) === scheduledState && { broken: { attempt: pending.attempt ?? 1, message } }),
  }
}

/** The state of an activity that a worker runs. */
const startedState = 2
const watchActivity = 'watchService'
const calledIn = ApplicationFailure.create({
  type: 'CalledIn',
  message: 'the worker that watched is gone',
  nextRetryDelay: '100ms',
})

function isLeftWatch(
  { activityType, state, lastWorkerIdentity }: PendingActivity,
  living: ReadonlySet<string>,
): boolean {
  const isBegun = activityType?.name === watchActivity && Number(state) === startedState
  return isBegun && !living.has(lastWorkerIdentity ?? '')
}

function startOptions(settings: AutoscaleSettings) {
  const { serviceUuid, serviceName, userUuid } = settings
  return {
    workflowId: autoscaleWorkflowId(serviceUuid),
    typedSearchAttributes: [
      { key: userAttribute, value: userUuid },
      { key: stateAttribute, value: newAutoscaleLife(settings).phase },
    ],
    memo: { name: serviceName },
    staticSummary: `autoscale of service ${serviceName}`,
  }
}
