import { randomUUID } from 'node:crypto'
import type { startInstances } from '../../contract/instance/operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import { releaseLive, reserveLive } from '../../db/instance/instances.ts'
import type { StartRefusal } from '../../db/instance/instances.ts'
import { workflowSettings } from '../../db/instance/settings.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { TransitionAnswer } from '../../../workflows/instance/messages.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { News } from '../../domain/event/news.ts'
import type { Call, Handler } from '../call.ts'
import { stateBefore } from './awake.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { forEachInstance } from './objects.ts'
import { waitForRevision, waitMs } from './waiting.ts'
import { waitForStart } from './start-waiting.ts'
import { quotaNames } from '../account/quota-names.ts'

type Entry = OperationEntry<typeof startInstances> | FailedEntry

/** Starts instances within the live quotas, and then waits if the request asks for that. */
export function instancesStart(deps: ApiDeps): Handler<typeof startInstances> {
  return async ({ objects }, call) => ({
    entries: await forEachInstance(deps, call, objects, async (row, parameters): Promise<Entry> => {
      const reserved = await reserveLive(deps.database, call.identity.userUuid, row.uuid)
      if (!reserved.ok) return refusedStart(row, reserved.refusal)
      const answer = await startReserved(deps, call, row)
      const [entry] = await Promise.all([
        startedEntry(deps, call, { row, answer, parameters }),
        writeAsked(deps.database, row, askedStart(call)),
      ])
      return entry
    }),
  })
}

async function startedEntry(
  deps: ApiDeps,
  call: Call,
  of: {
    readonly row: InstanceRow
    readonly answer: TransitionAnswer
    readonly parameters: OperationBody<typeof startInstances>
  },
): Promise<Entry> {
  const { row, answer, parameters } = of
  const { uuid, name } = row
  const previous_state = stateBefore(answer.previousState, row)
  // A start changes nothing if the host has already woken the instance.
  const state = previous_state === answer.previousState ? answer.state : previous_state
  const timeoutMs = waitMs(parameters.wait_timeout_ms ?? 0)
  if (timeoutMs === 0) {
    const seen = await waitForRevision(deps, call, { row, revision: answer.revision })
    if (seen.kind === 'gone') return missing(row)
    return { status: 'success', uuid, name, state, previous_state }
  }
  const ended = await waitForStart(deps, call, { row, timeoutMs, revision: answer.revision })
  if (ended.status === 'error') return ended
  return { status: 'success', uuid, name, state: ended.state, previous_state }
}

function askedStart({ asker }: Call): Omit<News, 'from'> {
  return { kind: UserEventKind.InstanceStart, why: 'a start was asked for', asker }
}

function refusedStart(row: InstanceRow, refusal: StartRefusal): FailedEntry {
  if (refusal.kind === 'not-found') return missing(row)
  if (refusal.kind === 'retired') return failedInstance(row, 'retiredClone', { name: row.name })
  if (refusal.kind === 'no-memory') {
    const { neededMb, roomMb } = refusal.lack
    return failedInstance(row, 'noMemoryForStart', { name: row.name, needed: neededMb, free: roomMb })
  }
  const { quota, value, bound } = refusal.excess
  return failedInstance(row, 'quotaExceeded', { quota: quotaNames[quota], wanted: value, limit: bound })
}

async function startReserved(deps: ApiDeps, call: Call, row: InstanceRow): Promise<TransitionAnswer> {
  try {
    return await deps.control.start(workflowSettings(row), randomUUID(), call.asker)
  } catch (error) {
    await releaseLive(deps.database, row.uuid)
    throw error
  }
}

function missing(row: InstanceRow): FailedEntry {
  return missingEntry('instance', { by: 'uuid', value: row.uuid })
}
