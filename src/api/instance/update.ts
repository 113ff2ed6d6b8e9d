import { randomUUID } from 'node:crypto'
import { RequestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { maxDrainMs } from '../../contract/limits.ts'
import { updateInstances } from '../../contract/instance/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { changeInstance } from '../../db/instance/change.ts'
import type { ChangeOutcome } from '../../db/instance/change.ts'
import { workflowSettings } from '../../db/instance/settings.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { defaultRestartDrainMs } from '../../domain/instance/defaults.ts'
import { keepsMemory, pendingProperties } from '../../domain/instance/change.ts'
import type { LaunchProperty } from '../../domain/instance/change.ts'
import type { TransitionAnswer } from '../../../workflows/instance/messages.ts'
import { ControlBusy, ControlUnavailable } from '../../control/control-unavailable.ts'
import { InstanceGone } from '../../domain/instance/instance-gone.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { changeProblem, changedConfiguration, imageToFind } from './changed-configuration.ts'
import type { ChangeBody, WantedChange } from './changed-configuration.ts'
import { findImage } from './find-image.ts'
import { forEachInstance } from './objects.ts'
import { waitForRevision } from './waiting.ts'

type Entry = OperationEntry<typeof updateInstances> | FailedEntry

/** How many requests to the registry one request may have under way. */
const maxConcurrent = 10

/**
 * Returns one entry for each change. All changes of one instance are made together, and their entries say the
 * same.
 */
export function instancesUpdate(deps: ApiDeps): Handler<typeof updateInstances> {
  return async ({ objects }, call) => {
    const problems = objects.flatMap(
      ({ parameters }) => changeProblem(parameters, updateInstances.place) ?? [],
    )
    if (problems.length > 0) throw new RequestError(problems)
    const changes = new Map<string, ChangeBody[]>()
    const made = new Map<string, Promise<Entry>>()
    // First all changes of each instance are collected, in the order of the request.
    const rows = await forEachInstance(deps, call, objects, async (row, body) => {
      changes.set(row.uuid, [...(changes.get(row.uuid) ?? []), body])
      return row
    })
    const entries = await boundedMap(
      objects,
      maxConcurrent,
      async ({ parameters }, index): Promise<Entry> => {
        const row = rows[index]!
        if (!('revision' in row)) return row
        const entry = made.get(row.uuid) ?? change(deps, call, row, changes.get(row.uuid) ?? [])
        made.set(row.uuid, entry)
        const { id } = parameters
        return { ...(await entry), ...(id === undefined ? {} : { id }) }
      },
    )
    return { entries }
  }
}

async function change(
  deps: ApiDeps,
  call: Call,
  row: InstanceRow,
  bodies: readonly ChangeBody[],
): Promise<Entry> {
  const changes: WantedChange[] = []
  for (const body of bodies) {
    const reference = imageToFind(body, row.image)
    const image = reference === undefined ? undefined : await findImage(deps, call, reference)
    if (image !== undefined && 'message' in image) return failedChange(row, image)
    changes.push({ body, ...(image && { image }) })
  }
  const drains = bodies.flatMap(({ drain_timeout_ms: drainMs }) => drainMs ?? [])
  const outcome = await changeInstance(deps, {
    userUuid: call.identity.userUuid,
    uuid: row.uuid,
    asker: call.asker,
    restart: bodies.some(({ restart }) => restart === true),
    drainMs: drainMsOf(drains),
    apply: (now) => changedConfiguration(now, changes),
  })
  if (!outcome.ok) return failedChange(row, writeRefusalProblem(outcome.refusal))
  if (outcome.value === undefined) return missingEntry('instance', { by: 'uuid', value: row.uuid })
  const answer = outcome.value.isTold ? await tellWorkflow(deps, call, outcome.value.row) : undefined
  return changedEntry(outcome.value, answer)
}

/** The longest of the wanted drains counts. */
function drainMsOf(wanted: readonly number[]): number {
  if (wanted.length === 0) return defaultRestartDrainMs
  return wanted.some((ms) => ms < 0) ? maxDrainMs : Math.max(...wanted)
}

function failedChange({ uuid, name, state }: InstanceRow, wrong: Problem): FailedEntry {
  return { status: 'error', uuid, name, state, message: wrong.message, error: wrong.code }
}

/**
 * Tells the workflow, and waits a moment until reads show its answer. If Temporal does not answer, the change
 * is in the row all the same, and the sweep tells the workflow.
 */
async function tellWorkflow(
  deps: ApiDeps,
  call: Call,
  row: InstanceRow,
): Promise<TransitionAnswer | undefined> {
  try {
    const answer = await deps.control.change(workflowSettings(row), randomUUID(), call.asker)
    await waitForRevision(deps, call, { row, revision: answer.revision })
    return answer
  } catch (error) {
    const isAway = error instanceof ControlUnavailable || error instanceof ControlBusy
    // A workflow that deletes its instance needs no change.
    if (!isAway && !(error instanceof InstanceGone)) throw error
    call.log.warn(
      { err: error, instance: row.uuid },
      'the workflow could not be told of a change: the sweep tells it',
    )
    return undefined
  }
}

function changedEntry({ row, changed }: ChangeOutcome, answer: TransitionAnswer | undefined): Entry {
  const waiting = pendingProperties(row)
  const renews = row.renewBelow > row.launchedVersion && waiting.length > 0
  const keeps = keepsMemory(row)
  return {
    status: 'success',
    uuid: row.uuid,
    name: row.name,
    state: answer?.state ?? row.state,
    changed: [...changed],
    needs_restart: renews ? [] : [...waiting],
    restarting: renews && !keeps,
    memory_dropped: renews && keeps,
    ...(keeps && waiting.length > 0 && !renews ? { note: whatARestartDrops(row, waiting) } : {}),
  }
}

function whatARestartDrops({ name }: InstanceRow, waiting: readonly LaunchProperty[]): string {
  return (
    `${name} sleeps with its memory, and wakes as it was: ${waiting.join(', ')} wait for a start that does not go on ` +
    "from it. With 'restart', that memory is dropped, and the next wake has the changes."
  )
}
