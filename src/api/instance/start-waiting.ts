import type { FailedEntry } from '../../contract/envelope.ts'
import { HostFailure } from '../../domain/instance/host-work.ts'
import type { InstanceState } from '../../domain/instance/state.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { isStartOver, waitForInstance } from './waiting.ts'

export interface StartedInstance {
  readonly status: 'success'
  readonly uuid: string
  readonly name: string
  readonly state: InstanceState
  readonly row: InstanceRow
}

/**
 * Waits until a start that was accepted at `revision` is over. An application that ran and ended by itself
 * before anybody looked counts as started. An instance that could not be started counts as failed.
 */
export async function waitForStart(
  deps: Pick<ApiDeps, 'database' | 'nodes' | 'watch' | 'stopping'>,
  call: Call,
  wanted: { readonly row: InstanceRow; readonly revision: number; readonly timeoutMs: number },
): Promise<StartedInstance | FailedEntry> {
  const { uuid, name } = wanted.row
  const seen = await waitForInstance(deps, call, {
    row: wanted.row,
    timeoutMs: wanted.timeoutMs,
    isReached: (row) => row.revision >= wanted.revision && isStartOver(row, wanted.revision),
  })
  if (seen.kind === 'gone') return missingEntry('instance', { by: 'uuid', value: uuid })
  if (seen.kind === 'timed-out') return failedInstance(seen.row, 'timedOut')
  const { failure: reason, failureKind } = seen.row
  if (reason !== null) {
    if (failureKind === HostFailure.HostFull) return failedInstance(seen.row, 'hostFull', { name, reason })
    if (failureKind === HostFailure.QuotaExceeded)
      return failedInstance(seen.row, 'overQuotaOnHost', { name, reason })
    return failedInstance(seen.row, 'operationFailed', { reason })
  }
  return { status: 'success', uuid, name, state: seen.row.state, row: seen.row }
}
