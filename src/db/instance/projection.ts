import type { ExpressionBuilder } from 'kysely'
import type { InstanceProjection } from '../../domain/instance/projection.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { News } from '../../domain/event/news.ts'
import type { Database } from '../database.ts'
import { insertNewsOfChanged } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import type { Tables } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
import { countNotified } from './channel.ts'

export interface RecordedInstance {
  readonly isWritten: boolean
  /** The rollout of its service that is under way, and may wait for this state. */
  readonly rolloutUuid?: string
}

/**
 * Writes the projection that the workflow decided, and notifies those who wait for it. A revision that is
 * not greater than the row's is out of date or a repeat and changes nothing. Nothing happens either if the
 * row is gone. A live state ends the reservation of its start, so that the reservation can not outlast the
 * next stop. The news are written as the user's events if the projection is.
 */
export async function recordInstance(
  { db }: Database,
  {
    uuid,
    revision,
    news = [],
  }: { readonly uuid: string; readonly revision: number; readonly news?: readonly News[] | undefined },
  projection: InstanceProjection,
): Promise<RecordedInstance> {
  const { state } = projection
  const { count, rolloutUuid } = await db
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
        .$if(endsHeld(projection), (query) => query.set(heldNoMore(projection)))
        .where('uuid', '=', uuid)
        .where('revision', '<', revision)
        .returning(['uuid', 'name', 'userUuid', 'serviceUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, news))
    .selectFrom('changed')
    .leftJoin('services', 'services.uuid', 'changed.serviceUuid')
    .select((eb) => [
      countNotified(eb.ref('changed.uuid')).as('count'),
      // PostgreSQL has no least UUID.
      eb.fn.min<string | null>(eb.cast<string>('services.rolloutUuid', 'text')).as('rolloutUuid'),
    ])
    .executeTakeFirstOrThrow()
  return { isWritten: count > 0, ...(rolloutUuid !== null && { rolloutUuid }) }
}

/** Whether the boot that had more than the present configuration says may be over. */
function endsHeld({ state }: InstanceProjection): boolean {
  return state === InstanceState.Stopped || state === InstanceState.Running
}

function heldNoMore({ state, launchedVersion = 0 }: InstanceProjection) {
  const ends = (column: 'heldMemoryMb' | 'heldVcpus') => (eb: ExpressionBuilder<Tables, 'instances'>) =>
    state === InstanceState.Stopped
      ? eb.lit(0)
      : eb.case().when('configVersion', '<=', launchedVersion).then(0).else(eb.ref(column)).end()
  return { heldMemoryMb: ends('heldMemoryMb'), heldVcpus: ends('heldVcpus') }
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
    launchedVersion: projection.launchedVersion ?? 0,
    toldVersion: projection.toldVersion ?? 0,
    restarting: projection.restarting ?? false,
    standbyDisabled: projection.standbyDisabled ?? false,
    suspended: projection.suspended ?? false,
    move: projection.move === undefined ? null : json(projection.move),
  } satisfies Record<ColumnOf<keyof InstanceProjection>, unknown>
}

/**
 * The column of a field of the projection. If a field has no column in `columnsFor`, this file does not
 * compile.
 */
type ColumnOf<Field> = Field extends `${infer Moment}AtMs` ? `${Moment}At` : Field

function moment(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms)
}
