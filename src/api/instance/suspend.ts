import { randomUUID } from 'node:crypto'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { suspendInstances } from '../../contract/instance/operations.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { releaseSnapshot, reserveSnapshot } from '../../db/instance/snapshot-room.ts'
import { workflowSettings } from '../../db/instance/settings.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { maxSuspendDrainMs } from '../../domain/instance/lifecycle-suspend.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { TransitionAnswer } from '../../../workflows/instance/messages.ts'
import { quotaNames } from '../account/quota-names.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance } from '../failed-entry.ts'
import { stateBefore } from './awake.ts'
import { forEachInstance } from './objects.ts'
import { waitForRevision } from './waiting.ts'

type Entry = OperationEntry<typeof suspendInstances> | FailedEntry
type Parameters = OperationBody<typeof suspendInstances>

/** The states from which an instance goes to standby, or in which it is there already. */
const suspendable: ReadonlySet<InstanceState> = new Set([
  InstanceState.Starting,
  InstanceState.Running,
  InstanceState.Standby,
])
/**
 * How often, and after which pause, an instance is asked again whose workflow does not know yet that its host
 * has woken it. Hosts tell it within some hundred milliseconds.
 */
const mostAttempts = 20
const pauseMs = 100

/**
 * Sends instances to standby. The answer does not wait until they sleep, only until reads show that it was
 * asked for.
 */
export function instancesSuspend(deps: ApiDeps): Handler<typeof suspendInstances> {
  return async ({ objects }, call) => ({
    entries: await forEachInstance(deps, call, objects, async (row, parameters): Promise<Entry> => {
      if (row.state === InstanceState.Running && row.standbyDisabled)
        return failedInstance(row, 'standbyDisabled', { name: row.name })
      const excess = await reserveSnapshot(deps.database, call.identity.userUuid, row.uuid)
      if (excess !== undefined) {
        const { quota, value, bound } = excess
        return failedInstance(row, 'quotaExceeded', { quota: quotaNames[quota], wanted: value, limit: bound })
      }
      const answer = await suspendReserved(deps, call, { row, parameters })
      const { state } = answer
      if (!suspendable.has(state)) return failedInstance(row, 'notUp', { name: row.name, state })
      if (isUnheard(row, answer))
        return failedInstance(row, 'operationFailed', { reason: 'it was woken just now; try again' })
      await Promise.all([
        waitForRevision(deps, call, { row, revision: answer.revision }),
        answer.previousState === InstanceState.Standby ? undefined : writeSuspendAsked(deps, call, row),
      ])
      const { uuid, name } = row
      const previous_state = stateBefore(answer.previousState, row)
      return { status: 'success', uuid, name, state, previous_state }
    }),
  })
}

/** Asks the workflow. If that does not lead to standby, the room for the snapshot is given back. */
async function suspendReserved(
  deps: ApiDeps,
  call: Call,
  { row, parameters }: { readonly row: InstanceRow; readonly parameters: Parameters },
): Promise<TransitionAnswer> {
  const { drain_timeout_ms = -1 } = parameters
  const drainTimeoutMs = drain_timeout_ms < 0 ? maxSuspendDrainMs : drain_timeout_ms
  const ask = () =>
    deps.control.suspend(workflowSettings(row), { drainTimeoutMs, asker: call.asker }, randomUUID())
  let isOnItsWay = false
  try {
    let answer = await ask()
    for (let attempt = 1; isUnheard(row, answer) && attempt < mostAttempts; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      answer = await ask()
    }
    isOnItsWay = suspendable.has(answer.state) && !isUnheard(row, answer)
    return answer
  } finally {
    if (!isOnItsWay) await releaseSnapshot(deps.database, row.uuid)
  }
}

/** Whether the host has woken the instance, and the workflow has not heard of it yet. */
function isUnheard({ state }: InstanceRow, { previousState }: TransitionAnswer): boolean {
  return previousState === InstanceState.Standby && state !== InstanceState.Standby
}

async function writeSuspendAsked(deps: ApiDeps, { asker }: Call, row: InstanceRow): Promise<void> {
  const news = { kind: UserEventKind.InstanceSuspend, why: 'standby was asked for', asker }
  await writeAsked(deps.database, row, news)
}
