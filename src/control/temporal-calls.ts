import {
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import type { Client, WorkflowStartOptions } from '@temporalio/client'
import type { SignalDefinition } from '@temporalio/common'
import { controlTaskQueue } from '../domain/instance/host-work.ts'
import { deleteSignal, entityWorkflowId, refreshSignal } from '../../workflows/entity-messages.ts'
import { callDeadlineMs, ControlUnavailable } from './control-unavailable.ts'

/**
 * A task holds the writes of a state to PostgreSQL. One that was lost with its worker is given out again
 * after this; it must not be shorter than such a write may take.
 */
const workflowTaskTimeoutMs = 5_000

/** gRPC's codes for "not now": cancelled, deadline exceeded, resource exhausted, aborted, unavailable. */
const passingCodes: readonly number[] = [1, 4, 8, 10, 14]

/** Everything that has a workflow is some user's. */
interface Owned {
  readonly userUuid: string
}

/** How the workflow of one kind of thing is begun. */
export interface EntityWorkflow<Settings extends Owned> {
  readonly type: string
  readonly options: (settings: Settings) => Omit<WorkflowStartOptions, 'args' | 'taskQueue' | 'priority'>
}

/** What is asked of the workflow of anything that has one for as long as it exists. */
export interface EntityCalls<Settings> {
  /** Within the deadline; `ControlUnavailable` where nobody answers. */
  ask<T>(call: () => Promise<T>): Promise<T>
  startOptions(settings: Settings): WorkflowStartOptions
  ensureStarted(settings: Settings): Promise<void>
  delete(settings: Settings): Promise<void>
  /** Starts it too where nobody did; fails where it is over, see `isOver`. */
  signal(settings: Settings, signal: SignalDefinition): Promise<void>
  /** As `signal`, and one that is over is begun once more, for a row that came back, as from a backup. */
  signalAnew(settings: Settings, signal: SignalDefinition): Promise<void>
  /** Makes it continue as new at its next idle point. */
  refresh(uuid: string): Promise<void>
  /** Signals one that runs, and returns for those that are over. */
  tell(uuid: string, signalName: string, ...args: readonly unknown[]): Promise<void>
  /** Its host never comes back: told in that host's place. Returns for workflows that are over. */
  hostGone(uuid: string, signalName: string): Promise<void>
}

export function createEntityCalls<Settings extends Owned>(
  client: Client,
  { type, options }: EntityWorkflow<Settings>,
): EntityCalls<Settings> {
  const ask = <T>(call: () => Promise<T>): Promise<T> => inTime(client, call)
  const handleOf = (uuid: string) => client.workflow.getHandle(entityWorkflowId(type, uuid))
  /**
   * One that ended by itself is not started again; one that a person terminated is, and goes on from what its
   * row says.
   */
  const startOptions = (settings: Settings): WorkflowStartOptions => ({
    args: [settings],
    taskQueue: controlTaskQueue,
    // Temporal gives each key its turn.
    priority: { fairnessKey: settings.userUuid },
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    workflowTaskTimeout: workflowTaskTimeoutMs,
    ...options(settings),
  })

  async function signalWithStart(started: WorkflowStartOptions, signal: SignalDefinition): Promise<void> {
    await ask(() => client.workflow.signalWithStart(type, { ...started, signal, signalArgs: [] }))
  }

  function signalAnew(settings: Settings, signal: SignalDefinition): Promise<void> {
    const options = { ...startOptions(settings), workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const
    return signalWithStart(options, signal)
  }

  async function tell(uuid: string, signalName: string, ...args: readonly unknown[]): Promise<void> {
    try {
      await ask(() => handleOf(uuid).signal(signalName, ...args))
    } catch (error) {
      if (!isOver(error)) throw error
    }
  }

  return {
    ask,
    startOptions,
    async ensureStarted(settings) {
      try {
        await ask(() => client.workflow.start(type, startOptions(settings)))
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      }
    },
    // One that is over and whose row came back cleans up once more.
    delete: (settings) => signalAnew(settings, deleteSignal),
    signal: (settings, signal) => signalWithStart(startOptions(settings), signal),
    signalAnew,
    async refresh(uuid) {
      await ask(() => handleOf(uuid).signal(refreshSignal))
    },
    tell,
    hostGone: (uuid, signalName) => tell(uuid, signalName, { kind: 'removed' }),
  }
}

/** The workflow ended by itself, or never began. */
export function isOver(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError
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
