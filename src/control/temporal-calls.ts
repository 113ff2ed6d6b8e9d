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
 * After this time Temporal gives a workflow task out again whose worker is gone. A task holds the write of a
 * state to PostgreSQL, so the time must not be shorter than such a write may take.
 */
const workflowTaskTimeoutMs = 5_000

/** gRPC's codes for "not now": cancelled, deadline exceeded, resource exhausted, aborted, unavailable. */
const passingCodes: readonly number[] = [1, 4, 8, 10, 14]

/** Every object with a workflow belongs to a user. */
interface Owned {
  readonly userUuid: string
}

/** How the workflow of one kind of entity is started. */
export interface EntityWorkflow<Settings extends Owned> {
  readonly type: string
  readonly options: (settings: Settings) => Omit<WorkflowStartOptions, 'args' | 'taskQueue' | 'priority'>
}

/** The calls to the workflow of an entity that are the same for every kind. */
export interface EntityCalls<Settings> {
  /** Makes a call within the deadline. Throws `ControlUnavailable` if nobody answers. */
  ask<T>(call: () => Promise<T>): Promise<T>
  startOptions(settings: Settings): WorkflowStartOptions
  ensureStarted(settings: Settings): Promise<void>
  delete(settings: Settings): Promise<void>
  /**
   * Signals the workflow, and starts it first if nobody did. Fails if the workflow is over, see `isOver`.
   */
  signal(settings: Settings, signal: SignalDefinition): Promise<void>
  /**
   * Like `signal`, but starts a workflow that is over once more: its row may be back, for example from a
   * backup.
   */
  signalAnew(settings: Settings, signal: SignalDefinition): Promise<void>
  /** Makes the workflow continue as new at its next idle point. */
  refresh(uuid: string): Promise<void>
  /** Signals a running workflow. Also returns if the workflow is over. */
  tell(uuid: string, signalName: string, ...args: readonly unknown[]): Promise<void>
  /**
   * Tells the workflow that its host has removed everything, in place of a host that never comes back. Also
   * returns if the workflow is over.
   */
  hostGone(uuid: string, signalName: string): Promise<void>
}

export function createEntityCalls<Settings extends Owned>(
  client: Client,
  { type, options }: EntityWorkflow<Settings>,
): EntityCalls<Settings> {
  const ask = <T>(call: () => Promise<T>): Promise<T> => inTime(client, call)
  const handleOf = (uuid: string) => client.workflow.getHandle(entityWorkflowId(type, uuid))
  /**
   * A workflow that ended by itself is not started again. One that a person terminated is, and goes on from
   * its row.
   */
  const startOptions = (settings: Settings): WorkflowStartOptions => ({
    args: [settings],
    taskQueue: controlTaskQueue,
    // Temporal takes work of each key in turn.
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
    // A workflow that is over and whose row is back cleans up once more.
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

/** Sets the deadline. Without it a call would wait for ever if no worker runs. */
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
