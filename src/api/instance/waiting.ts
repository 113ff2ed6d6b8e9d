import { requestError } from '../../contract/errors.ts'
import { maxWaitMs } from '../../contract/limits.ts'
import { InstanceState, isDown } from '../../domain/instance/state.ts'
import { findByUuids } from '../../db/instance/instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { asTheirHostsSay } from './awake.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * How long an answer waits until the row shows what the workflow answered. A lost notification thus delays
 * an answer by no more than this.
 */
const readYourWritesMs = 1_000

/** The outcome of a wait for an instance. */
export type Awaited =
  | { readonly kind: 'reached' | 'timed-out'; readonly row: InstanceRow }
  /** The instance was deleted meanwhile. */
  | { readonly kind: 'gone' }

/** The time to wait in ms. -1 means the longest wait. */
export function waitMs(timeoutMs: number): number {
  return timeoutMs < 0 ? maxWaitMs : Math.min(timeoutMs, maxWaitMs)
}

type RowDeps = Pick<ApiDeps, 'database' | 'watch' | 'stopping'>

interface Wanted {
  readonly row: InstanceRow
  readonly timeoutMs: number
  readonly isReached: (row: InstanceRow) => boolean
}

/**
 * Waits until `isReached` holds for the instance, the time is up or the instance is deleted. Throws if the
 * process is stopping, so that the client tries again with another process.
 */
export async function waitForInstance(
  deps: RowDeps & Pick<ApiDeps, 'nodes'>,
  call: Call,
  wanted: Wanted,
): Promise<Awaited> {
  return waitForRow(deps, call, wanted, (rows) => asTheirHostsSay(deps, call, rows))
}

/** `show` turns the recorded rows into those that the wait looks at. */
async function waitForRow(
  deps: RowDeps,
  call: Call,
  wanted: Wanted,
  show: (rows: readonly InstanceRow[]) => Promise<readonly InstanceRow[]>,
): Promise<Awaited> {
  const { uuid } = wanted.row
  const { satisfied, seen: row } = await deps.watch.waitForRead(
    [uuid],
    {
      async read() {
        const [now] = await show(await findByUuids(deps.database, [uuid]))
        return now
      },
      isSatisfied: (now) => now === undefined || wanted.isReached(now),
    },
    { timeoutMs: wanted.timeoutMs, signal: call.signal },
  )
  if (row === undefined) return { kind: 'gone' }
  if (!satisfied && deps.stopping.aborted) throw requestError('unavailable')
  return { kind: satisfied ? 'reached' : 'timed-out', row }
}

/** Waits a moment until the row has this revision. Hosts do not write rows, so they are not asked. */
export async function waitForRevision(
  deps: RowDeps,
  call: Call,
  wanted: { readonly row: InstanceRow; readonly revision: number },
): Promise<Awaited> {
  const isReached = (row: InstanceRow) => row.revision >= wanted.revision
  return waitForRow(
    deps,
    call,
    { row: wanted.row, timeoutMs: readYourWritesMs, isReached },
    async (rows) => rows,
  )
}

/**
 * Whether a start is over: the instance runs, or it is down and no restart is due. `revision` is that of
 * the accepted start; the instance must have gone down after it.
 */
export function isStartOver(row: InstanceRow, revision: number): boolean {
  if (row.state === InstanceState.Running) return true
  return isDown(row.state) && row.restartNextAt === null && row.revision > revision
}
