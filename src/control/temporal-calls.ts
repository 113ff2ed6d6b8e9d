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
 * After this time Temporal gives a workflow task to another worker, because the first worker seems to be
 * gone. A task may wait for the write of a state to PostgreSQL, so this time is not shorter than the time
 * limit of a write.
 */
export const workflowTaskTimeoutMs = 5_000

/**
 * The codes of gRPC for failures that pass: cancelled, deadline exceeded, resource exhausted, aborted,
 * unavailable.
 */
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
   * Signals the workflow, and starts it first if it was never started. Fails if the workflow is over;
   * `isOver` tells such a failure from others.
   */
  signal<Args extends unknown[]>(
    settings: Settings,
    signal: SignalDefinition<Args>,
    ...args: Args
  ): Promise<void>
  /**
   * Like `signal`, but if the workflow is over, starts another one: the row may have come back, for example
   * from a backup.
   */
  signalAnew(settings: Settings, signal: SignalDefinition): Promise<void>
  /** Makes the workflow continue as new as soon as nothing is under way. */
  refresh(uuid: string): Promise<void>
  /** Signals a running workflow. Also returns if the workflow is over. */
  tell(uuid: string, signalName: string, ...args: readonly unknown[]): Promise<void>
  /**
   * Tells the workflow that everything is removed from its host. It is sent in place of a host that never
   * comes back. Also returns if the workflow is over.
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
   * The options of a start. If the workflow ended by itself, the start fails. If a person terminated it,
   * another one starts and goes on from the row.
   */
  const startOptions = (settings: Settings): WorkflowStartOptions => ({
    args: [settings],
    taskQueue: controlTaskQueue,
    // If much work waits, Temporal takes a piece of each user in turn.
    priority: { fairnessKey: settings.userUuid },
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    workflowTaskTimeout: workflowTaskTimeoutMs,
    ...options(settings),
  })

  async function signalWithStart(
    started: WorkflowStartOptions,
    signal: { readonly name: string },
    ...signalArgs: unknown[]
  ): Promise<void> {
    await ask(() => client.workflow.signalWithStart(type, { ...started, signal: signal.name, signalArgs }))
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
    // If the workflow is over, the row may have come back from a backup. Then another workflow cleans up.
    delete: (settings) => signalAnew(settings, deleteSignal),
    signal: (settings, signal, ...args) => signalWithStart(startOptions(settings), signal, ...args),
    signalAnew,
    async refresh(uuid) {
      await ask(() => handleOf(uuid).signal(refreshSignal))
    },
    tell,
    hostGone: (uuid, signalName) => tell(uuid, signalName, { kind: 'removed' }),
  }
}

/** Whether the error says that the workflow has ended, or that it never began. */
export function isOver(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError
}

/** Makes the call with a deadline. Without a deadline it would wait for ever if no worker runs. */
export async function inTime<T>(client: Client, call: () => Promise<T>): Promise<T> {
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
