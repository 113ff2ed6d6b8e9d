import type { InstanceProjection } from '../../domain/instance/projection.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { Database } from '../database.ts'
import { now } from '../sql/time.ts'
import { countNotified } from './channel.ts'

/**
 * Writes what the workflow decided and tells whoever waits. A revision that is not greater than the row's is
 * older news, or a repeat, and changes nothing; so is one about an instance that is gone. Returns whether it
 * was written. Once the state is a live one, a reservation has served: it ends with the next stop instead of
 * outliving it.
 */
export async function recordInstance(
  { db }: Database,
  { uuid, revision }: { readonly uuid: string; readonly revision: number },
  projection: InstanceProjection,
): Promise<boolean> {
  const { state } = projection
  const { count } = await db
    .with('changed', (db) =>
      db
        .updateTable('instances')
        .set(columnsFor(projection))
        .set((eb) => ({
          revision,
          stateSince: eb.case().when('state', '=', state).then(eb.ref('stateSince')).else(now).end(),
          workflowStartedAt: eb.fn.coalesce('workflowStartedAt', now),
        }))
        .$if(state !== InstanceState.Stopped, (query) => query.set({ liveReservedUntil: null }))
        .where('uuid', '=', uuid)
        .where('revision', '<', revision)
        .returning('uuid'),
    )
    .selectFrom('changed')
    .select((eb) => countNotified(eb.ref('changed.uuid')).as('count'))
    .executeTakeFirstOrThrow()
  return count > 0
}

/** The columns that the projection fills. `projectionIn` reads them again. */
function columnsFor(projection: InstanceProjection) {
  return {
    state: projection.state,
    boot: projection.boot,
    startCount: projection.startCount,
    restartCount: projection.restartCount,
    restartAttempt: projection.restartAttempt,
    restartNextAt: moment(projection.restartNextAtMs),
    startedAt: moment(projection.startedAtMs),
    stoppedAt: moment(projection.stoppedAtMs),
    uptimeMs: projection.uptimeMs,
    bootTimeUs: projection.bootTimeUs ?? null,
    vmmStartTimeUs: projection.vmmStartTimeUs ?? null,
    vmmLoadTimeUs: projection.vmmLoadTimeUs ?? null,
    vmmReadyTimeUs: projection.vmmReadyTimeUs ?? null,
    netTimeUs: projection.netTimeUs ?? null,
    startKind: projection.startKind ?? null,
    stopReason: projection.stopReason ?? null,
    exitCode: projection.exitCode ?? null,
    stopCode: projection.stopCode ?? null,
    failure: projection.failure ?? null,
    failureKind: projection.failureKind ?? null,
    snapshotUuid: projection.snapshotUuid ?? null,
    standbyDisabled: projection.standbyDisabled ?? false,
  } satisfies Record<ColumnOf<keyof InstanceProjection>, unknown>
}

/** Total over the projection: a field without a column does not compile. */
type ColumnOf<Field> = Field extends `${infer Moment}AtMs` ? `${Moment}At` : Field

function moment(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms)
}
