import type { waitInstances } from '../../contract/instance/operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { RequestObject } from '../../contract/request/parsed-request.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { findInstances } from '../../db/instance/instances.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../named-objects.ts'
import { waitForInstance, waitMs } from './waiting.ts'

type Entry = OperationEntry<typeof waitInstances> | FailedEntry
type Wanted = RequestObject<{ readonly state?: InstanceState; readonly timeout_ms?: number }>

/**
 * Waits for all instances at once, each with its own state and timeout. The answer comes when the last wait
 * has ended.
 */
export function instancesWait(deps: ApiDeps): Handler<typeof waitInstances> {
  return async ({ objects }, call) => {
    const targets = objects.flatMap(({ target }) => target ?? [])
    const rows = await findInstances(deps.database, call.identity, targets.map(identifierOf))
    const waits = objects.map(async (wanted: Wanted, index): Promise<Entry> => {
      const row = rows[index]
      const missing = missingEntry('instance', targets[index]!)
      if (row === undefined) return missing
      const { state = InstanceState.Running, timeout_ms = -1 } = wanted.parameters
      const seen = await waitForInstance(deps, call, {
        row,
        timeoutMs: waitMs(timeout_ms),
        isReached: (now) => now.state === state,
      })
      if (seen.kind === 'gone') return missing
      if (seen.kind === 'timed-out') return failedInstance(seen.row, 'timedOut')
      return { status: 'success', uuid: row.uuid, name: row.name, state: seen.row.state }
    })
    return { entries: await Promise.all(waits) }
  }
}
