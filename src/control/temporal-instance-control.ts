import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import type { Client } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import type { Workflow } from '@temporalio/common'
import { AskerKind } from '../domain/event/asker.ts'
import { hostEventSignalName } from '../domain/instance/host-work.ts'
import { newLifecycle } from '../domain/instance/lifecycle.ts'
import { InstanceState } from '../domain/instance/state.ts'
import {
  changeUpdate,
  hostLostSignal,
  instanceDeletedFailure,
  instanceWorkflowId,
  instanceWorkflowType,
  lifecycleQuery,
  moveRefusedFailure,
  moveUpdate,
  startUpdate,
  stopUpdate,
  suspendUpdate,
} from '../../workflows/instance/messages.ts'
import type { InstanceSettings } from '../domain/instance/settings.ts'
import { noScaleToZero } from '../domain/standby/scale-to-zero.ts'
import type { ConfigurationChange } from '../domain/instance/configuration.ts'
import type {
  ChangeRequest,
  MoveRequest,
  StartRequest,
  StopRequest,
  SuspendRequest,
  TransitionAnswer,
} from '../../workflows/instance/messages.ts'
import { nodeAttribute, stateAttribute, userAttribute } from '../../workflows/search-attributes.ts'
import { FairSemaphore } from '../primitives/fair-semaphore.ts'
import { callDeadlineMs, ControlBusy } from './control-unavailable.ts'
import { InstanceGone } from '../domain/instance/instance-gone.ts'
import { MoveRefused } from '../domain/instance/move-refused.ts'
import type { InstanceControl } from './instance-control.ts'
import { createEntityCalls, isOver } from './temporal-calls.ts'
import type { EntityCalls } from './temporal-calls.ts'

/**
 * How many starts and stops may wait for a worker at a time, in all and of one user. Temporal takes users in
 * turn only for the first step of a workflow; later steps go to the worker that has the workflow in memory,
 * in the order of their arrival. Without these limits, a user who starts and stops many instances over and
 * over would keep all others waiting.
 */
const updatesAtOnce = { size: 24, perUser: 4, countsForMs: callDeadlineMs }
/** The longest wait for a turn, which is also the longest time that the API takes for a request. */
const longestTurnMs = 30_000

type UpdateArgs = [StartRequest | StopRequest | SuspendRequest | MoveRequest | ChangeRequest | undefined]
interface UpdateOptions {
  readonly args: UpdateArgs
  readonly updateId: string
}

type Update = (settings: InstanceSettings, name: string, options: UpdateOptions) => Promise<TransitionAnswer>

/** Updates of workflows that run, or that the update starts. Users take turns. */
function createUpdates(client: Client, calls: EntityCalls<InstanceSettings>, turnLimitMs: number): Update {
  const turns = new FairSemaphore(updatesAtOnce)

  async function update(
    settings: InstanceSettings,
    name: string,
    options: UpdateOptions,
  ): Promise<TransitionAnswer> {
    let hasBegun = false
    try {
      return await turns.run(settings.userUuid, AbortSignal.timeout(turnLimitMs), async () => {
        hasBegun = true
        return await updateNow(settings, name, options)
      })
    } catch (error) {
      throw hasBegun ? error : new ControlBusy('the turn did not come', { cause: error })
    }
  }

  async function updateNow(
    settings: InstanceSettings,
    name: string,
    options: UpdateOptions,
  ): Promise<TransitionAnswer> {
    const handle = client.workflow.getHandle(instanceWorkflowId(settings.instanceUuid))
    try {
      return await calls.ask(() => handle.executeUpdate<TransitionAnswer, UpdateArgs>(name, options))
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw goneOr(settings, error)
    }
    // The workflow was not started yet, or it is over. The next call starts it in the first case, and fails
    // in the second.
    const startWorkflowOperation = new WithStartWorkflowOperation(instanceWorkflowType, {
      ...calls.startOptions(settings),
      workflowIdConflictPolicy: 'USE_EXISTING',
    })
    try {
      return await calls.ask(() =>
        client.workflow.executeUpdateWithStart<Workflow, TransitionAnswer, UpdateArgs>(name, {
          ...options,
          startWorkflowOperation,
        }),
      )
    } catch (error) {
      throw goneOr(settings, error)
    }
  }

  return update
}

export function createInstanceControl(client: Client, turnLimitMs = longestTurnMs): InstanceControl {
  const calls = createEntityCalls(client, { type: instanceWorkflowType, options: startOptions })
  const update = createUpdates(client, calls, turnLimitMs)
  return {
    ensureStarted: calls.ensureStarted,
    start(settings, updateId, asker) {
      const request = asker === undefined ? undefined : { asker }
      return update(settings, startUpdate.name, { args: [request], updateId })
    },
    stop: (settings, request, updateId) => update(settings, stopUpdate.name, { args: [request], updateId }),
    suspend: (settings, request, updateId) =>
      update(settings, suspendUpdate.name, { args: [request], updateId }),
    move: (settings, request, updateId) => update(settings, moveUpdate.name, { args: [request], updateId }),
    change(settings, updateId, asker) {
      const request = { change: changeIn(settings), ...(asker && { asker }) }
      return update(settings, changeUpdate.name, { args: [request], updateId })
    },
    async retire(settings, drainMs, updateId, asker = { by: AskerKind.Autoscale }) {
      const request: StopRequest = { force: false, drainTimeoutMs: drainMs, thenDelete: true, asker }
      try {
        await update(settings, stopUpdate.name, { args: [request], updateId })
      } catch (error) {
        if (!(error instanceof InstanceGone)) throw error
      }
    },
    delete: calls.delete,
    async drainUntilMs(instanceUuid) {
      const handle = client.workflow.getHandle(instanceWorkflowId(instanceUuid))
      const life = await calls.ask(() => handle.query(lifecycleQuery))
      return life.state === InstanceState.Draining ? life.drainUntilMs : undefined
    },
    async hostLost(settings, loss) {
      try {
        await calls.signal(settings, hostLostSignal, loss)
      } catch (error) {
        if (!isOver(error)) throw error
      }
    },
    hostGone: (instanceUuid) => calls.hostGone(instanceUuid, hostEventSignalName),
    refresh: calls.refresh,
  }
}

/**
 * The options of a start. The first state is that of a new instance. After a person terminated the workflow,
 * it is the state that the row has.
 */
function startOptions(settings: InstanceSettings) {
  const { instanceUuid, name, userUuid, nodeId } = settings
  return {
    workflowId: instanceWorkflowId(instanceUuid),
    typedSearchAttributes: [
      { key: userAttribute, value: userUuid },
      { key: nodeAttribute, value: nodeId },
      { key: stateAttribute, value: newLifecycle(settings, settings.recorded).state },
    ],
    memo: { name },
    staticSummary: `${name}, on host ${nodeId}, restart policy ${settings.restartPolicy}`,
  }
}

function changeIn({
  config = neverChanged,
  restartPolicy,
  deleteOnStop,
  scaleToZero = noScaleToZero,
}: InstanceSettings): ConfigurationChange {
  return { ...config, restartPolicy, deleteOnStop, scaleToZero }
}

const neverChanged = { version: 0, renewBelow: 0, drainMs: 0 }

function goneOr(settings: InstanceSettings, error: unknown): unknown {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  const type = cause instanceof ApplicationFailure ? cause.type : undefined
  if (type === moveRefusedFailure) return new MoveRefused(cause?.message, { cause: error })
  const refused = type === instanceDeletedFailure
  return refused || isOver(error) ? new InstanceGone(settings.instanceUuid, { cause: error }) : error
}
