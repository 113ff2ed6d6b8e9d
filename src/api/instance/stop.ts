import { randomUUID } from 'node:crypto'
import { requestError } from '../../contract/errors.ts'
import { maxDrainMs } from '../../contract/limits.ts'
import { stopInstances } from '../../contract/instance/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Handler } from '../call.ts'
import { stateBefore } from './awake.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachInstance } from './objects.ts'
import { waitForRevision } from './waiting.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import { workflowSettings } from '../../db/instance/settings.ts'

type Parameters = OperationBody<typeof stopInstances>

/**
 * Asks instances to stop. The answer does not wait until they have stopped, only until reads show the state
 * that it reports.
 */
export function instancesStop(deps: ApiDeps): Handler<typeof stopInstances> {
  return async ({ objects }, call) => {
    for (const { parameters } of objects) refuseForcedDrain(parameters)
    const entries = await forEachInstance(deps, call, objects, async (row, parameters) => {
      const { force = false, drain_timeout_ms = 0 } = parameters
      const drainTimeoutMs = drain_timeout_ms < 0 ? maxDrainMs : drain_timeout_ms
      const { asker } = call
      const request = { force, drainTimeoutMs, asker }
      const answer = await deps.control.stop(workflowSettings(row), request, randomUUID())
      const why = force ? 'a stop by force was asked for' : 'a stop was asked for'
      await Promise.all([
        waitForRevision(deps, call, { row, revision: answer.revision }),
        writeAsked(deps.database, row, { kind: UserEventKind.InstanceStop, why, asker }),
      ])
      return {
        status: 'success' as const,
        uuid: row.uuid,
        name: row.name,
        state: answer.state,
        previous_state: stateBefore(answer.previousState, row),
      }
    })
    return { entries }
  }
}

function refuseForcedDrain({ force = false, drain_timeout_ms = 0 }: Parameters): void {
  if (!force || drain_timeout_ms === 0) return
  throw requestError('notBoth', { name: 'force', other: 'drain_timeout_ms', place: stopInstances.place })
}
