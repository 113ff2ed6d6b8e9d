import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import type { Client, WorkflowStartOptions } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import type { Workflow } from '@temporalio/common'
import { controlTaskQueue } from '../domain/host-work.ts'
import { newLifecycle } from '../domain/instance-lifecycle.ts'
import {
  deleteSignal,
  instanceDeletedFailure,
  instanceWorkflowId,
  instanceWorkflowType,
  refreshSignal,
  startUpdate,
  stopUpdate,
} from '../../workflows/instance-messages.ts'
import type { InstanceSettings } from '../domain/instance-settings.ts'
import type { StopRequest, TransitionAnswer } from '../../workflows/instance-messages.ts'
import { nodeAttribute, stateAttribute, userAttribute } from '../../workflows/search-attributes.ts'
import { callDeadlineMs, ControlUnavailable, InstanceGone } from './instance-control.ts'
import type { InstanceControl } from './instance-control.ts'

/**
 * A task holds the writes of a state to PostgreSQL. One that was lost with its worker is given out again after this;
 * it must not be shorter than such a write may take.
 */
const workflowTaskTimeoutMs = 5_000

/** gRPC's codes for "not now": cancelled, deadline exceeded, resource exhausted, aborted, unavailable. */
const passingCodes: readonly number[] = [1, 4, 8, 10, 14]

/** The client wants at least one argument to be named; `start` ignores its. */
type UpdateArgs = [StopRequest | undefined]
interface UpdateOptions {
  readonly args: UpdateArgs
  readonly updateId: string
}

export function createInstanceControl(client: Client): InstanceControl {
  const ask = <T>(call: () => Promise<T>): Promise<T> => inTime(client, call)

  async function update(
    settings: InstanceSettings,
    name: string,
    options: UpdateOptions,
  ): Promise<TransitionAnswer> {
    const handle = client.workflow.getHandle(instanceWorkflowId(settings.instanceUuid))
    try {
      return await ask(() => handle.executeUpdate<TransitionAnswer, UpdateArgs>(name, options))
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw goneOr(settings, error)
    }
    // Nobody started it yet, or it is over: this finds out which.
    const startWorkflowOperation = new WithStartWorkflowOperation(instanceWorkflowType, {
      ...startOptions(settings),
      workflowIdConflictPolicy: 'USE_EXISTING',
    })
    try {
      return await ask(() =>
        client.workflow.executeUpdateWithStart<Workflow, TransitionAnswer, UpdateArgs>(name, {
          ...options,
          startWorkflowOperation,
        }),
      )
    } catch (error) {
      throw goneOr(settings, error)
    }
  }

  return {
    async ensureStarted(settings) {
      try {
        await ask(() => client.workflow.start(instanceWorkflowType, startOptions(settings)))
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      }
    },
    start: (settings, updateId) => update(settings, startUpdate.name, { args: [undefined], updateId }),
    stop: (settings, request, updateId) => update(settings, stopUpdate.name, { args: [request], updateId }),
    async delete(settings) {
      await ask(() =>
        client.workflow.signalWithStart(instanceWorkflowType, {
          ...startOptions(settings),
          // One that is over and whose row came back, as from a backup, cleans up once more.
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          signal: deleteSignal,
          signalArgs: [],
        }),
      )
    },
    async refresh(instanceUuid) {
      await ask(() => client.workflow.getHandle(instanceWorkflowId(instanceUuid)).signal(refreshSignal))
    },
  }
}

/**
 * A workflow that deleted its instance is not started again; one that a person terminated is, and goes on from
 * what its row says. Otherwise its first state is what its row was inserted with.
 */
function startOptions(settings: InstanceSettings): WorkflowStartOptions {
  const { instanceUuid, name, userUuid, nodeId } = settings
  return {
    workflowId: instanceWorkflowId(instanceUuid),
    taskQueue: controlTaskQueue,
    args: [settings],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    workflowTaskTimeout: workflowTaskTimeoutMs,
    typedSearchAttributes: [
      { key: userAttribute, value: userUuid },
      { key: nodeAttribute, value: nodeId },
      { key: stateAttribute, value: newLifecycle(settings, settings.recorded).state },
    ],
    memo: { name },
    staticSummary: `${name}, on host ${nodeId}, restart policy ${settings.restartPolicy}`,
  }
}

/** Without a deadline a call would wait for ever where no worker runs. */
async function inTime<T>(client: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + callDeadlineMs, call)
  } catch (cause) {
    if (!isPassing(cause)) throw cause
    throw new ControlUnavailable('Temporal or the worker did not answer in time', { cause })
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true
  const grpc = isGrpcServiceError(error) ? error : error instanceof Error ? error.cause : undefined
  return isGrpcServiceError(grpc) && passingCodes.includes(grpc.code)
}

function goneOr(settings: InstanceSettings, error: unknown): unknown {
  const refused =
    error instanceof WorkflowUpdateFailedError &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === instanceDeletedFailure
  const over = error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError
  return refused || over ? new InstanceGone(settings.instanceUuid, { cause: error }) : error
}
