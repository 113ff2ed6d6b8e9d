import { randomUUID } from 'node:crypto'
import { AskerKind } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import type { EventFacts } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { ScheduleActionType } from '../../domain/schedule/action.ts'
import type { RunVerdict } from '../../domain/schedule/run.ts'
import { RunResult } from '../../domain/schedule/run.ts'
import type { ScheduleRunKey } from '../../domain/schedule/settings.ts'
import { lockUser } from '../account/user-lock.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { insertInstancesWithin } from '../instance/create.ts'
import type { CreateInstancesDeps } from '../instance/create.ts'
import { markInstanceDeleted } from '../instance/deletion.ts'
import type { NewInstances } from '../instance/new-instances.ts'
import type { InstanceRow } from '../instance/row.ts'
import { orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { now } from '../sql/time.ts'
import { lockSchedule } from './change.ts'
import type { ScheduleRow } from './row.ts'

const runColumns = columnsOf('scheduleRuns')

/** One run as readers get it. The entity says what its columns mean. */
export type RunRow = Readonly<Row<'scheduleRuns'>>

/** A run, and who causes what it does. */
export interface FoundRun extends RunRow {
  readonly asker: Asker
}

/** Who causes what a run does. */
export function runAsker({ name }: Pick<ScheduleRow, 'name'>): Asker {
  return { by: AskerKind.Schedule, name }
}

/**
 * Writes a run, or finds the one that an earlier attempt wrote. Undefined if the schedule is deleted.
 */
export async function beginRun(
  { db }: Database,
  { scheduleUuid, runKey, scheduledAtMs }: ScheduleRunKey,
): Promise<{ readonly schedule: ScheduleRow; readonly run: RunRow } | undefined> {
  return db.transaction().execute(async (db) => {
    const schedule = await lockSchedule(db, { uuid: scheduleUuid })
    if (schedule === undefined) return undefined
    await db
      .insertInto('scheduleRuns')
      .values({
        uuid: randomUUID(),
        scheduleUuid,
        runKey,
        scheduledAt: new Date(scheduledAtMs),
        timeoutMs: schedule.action.type === ScheduleActionType.Run ? schedule.action.timeoutMs : 0,
      })
      .onConflict((conflict) => conflict.columns(['scheduleUuid', 'runKey']).doNothing())
      .execute()
    const run = await readRun(db, { scheduleUuid, runKey })
    return run && { schedule, run }
  })
}

/** The run of a workflow. Undefined if its schedule is gone, or so many runs came later. */
export async function findRun(
  { db }: Database,
  key: Pick<ScheduleRunKey, 'scheduleUuid' | 'runKey'>,
): Promise<FoundRun | undefined> {
  const run = await readRun(db, key)
  if (run === undefined) return undefined
  const schedule = await db
    .selectFrom('schedules')
    .select('name')
    .where('uuid', '=', run.scheduleUuid)
    .executeTakeFirst()
  return schedule && { ...run, asker: runAsker(schedule) }
}

async function readRun(
  db: Db,
  { scheduleUuid, runKey }: Pick<ScheduleRunKey, 'scheduleUuid' | 'runKey'>,
): Promise<RunRow | undefined> {
  return db
    .selectFrom('scheduleRuns')
    .select(runColumns)
    .where('scheduleUuid', '=', scheduleUuid)
    .where('runKey', '=', runKey)
    .executeTakeFirst()
}

/**
 * Writes the instance of a run, in the same transaction as its UUID in the run's row. So a repeated attempt
 * finds the instance, and makes no second one. The instance is undefined if the run has one already, or its
 * schedule is deleted.
 */
export async function insertInstanceOfRun(
  deps: CreateInstancesDeps,
  run: Pick<RunRow, 'uuid' | 'scheduleUuid'>,
  wanted: NewInstances,
): Promise<
  | { readonly ok: true; readonly instance: InstanceRow | undefined }
  | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  const written = await orRefusal(() =>
    deps.database.db.transaction().execute(async (db) => {
      await lockUser(db, wanted.userUuid)
      if ((await lockSchedule(db, { uuid: run.scheduleUuid })) === undefined) return undefined
      const open = await db
        .selectFrom('scheduleRuns')
        .select('uuid')
        .where('uuid', '=', run.uuid)
        .where('instanceUuid', 'is', null)
        .where('result', '=', RunResult.Running)
        .executeTakeFirst()
      if (open === undefined) return undefined
      const [instance] = await insertInstancesWithin(db, deps, wanted)
      await db
        .updateTable('scheduleRuns')
        .set({ instanceUuid: instance!.uuid, instanceName: instance!.name })
        .where('uuid', '=', run.uuid)
        .execute()
      return instance
    }),
  )
  return written.ok ? { ok: true, instance: written.value } : written
}

/**
 * Notes the rollout that a run begins, in the transaction that writes it. Throws if the run is over, so that
 * no rollout is written then.
 */
export async function noteRolloutOfRun(
  db: Db,
  run: Pick<RunRow, 'uuid'>,
  rolloutUuid: string,
): Promise<void> {
  await db
    .updateTable('scheduleRuns')
    .set({ rolloutUuid })
    .where('uuid', '=', run.uuid)
    .where('rolloutUuid', 'is', null)
    .where('result', '=', RunResult.Running)
    .returning('uuid')
    .executeTakeFirstOrThrow()
}

/** Notes that the time of the run is over and its instance was asked to stop. */
export async function markRunStopped({ db }: Database, uuid: string): Promise<void> {
  await db
    .updateTable('scheduleRuns')
    .set({ stopAskedAt: now })
    .where('uuid', '=', uuid)
    .where('stopAskedAt', 'is', null)
    .execute()
}

export interface RunEnd {
  readonly result: RunVerdict
  readonly reason: string
  readonly exitCode?: number | null
  readonly stopReason?: number | null
  readonly logTail?: string
}

/**
 * Ends a run: writes its result with its event, marks its instance deleted, and removes the oldest runs
 * beyond `keptRuns`, in one transaction. Returns the instance's row, whose workflow the caller tells;
 * undefined if there is none. A run that has ended keeps its result, so a repeat is harmless.
 */
export async function endRun(
  { db }: Database,
  run: Pick<RunRow, 'uuid' | 'instanceUuid'>,
  { end, keptRuns }: { readonly end: RunEnd; readonly keptRuns: number },
): Promise<InstanceRow | undefined> {
  return db.transaction().execute(async (db) => {
    const schedule = await db
      .selectFrom('scheduleRuns')
      .innerJoin('schedules', 'schedules.uuid', 'scheduleRuns.scheduleUuid')
      .select(['schedules.uuid', 'schedules.name', 'schedules.userUuid'])
      .where('scheduleRuns.uuid', '=', run.uuid)
      .executeTakeFirst()
    if (schedule === undefined) return undefined
    const asker = runAsker(schedule)
    const reason = { why: `a run of ${schedule.name} is over`, asker }
    const instance =
      run.instanceUuid === null
        ? undefined
        : await markInstanceDeleted(db, { uuid: run.instanceUuid, reason })
    const ended = await db
      .updateTable('scheduleRuns')
      .set({ ...end, endedAt: now })
      .where('uuid', '=', run.uuid)
      .where('result', '=', RunResult.Running)
      .returning('uuid')
      .executeTakeFirst()
    if (ended === undefined) return instance
    await removeOldRuns(db, schedule.uuid, keptRuns)
    const { result, reason: why, exitCode } = end
    const code: EventFacts = typeof exitCode === 'number' ? { exit_code: exitCode } : {}
    await writeEvents(db, [
      {
        ...eventObject(schedule),
        kind: UserEventKind.ScheduleRun,
        to: result,
        why,
        asker,
        facts: { result, ...code },
      },
    ])
    return instance
  })
}

async function removeOldRuns(db: Db, scheduleUuid: string, keptRuns: number): Promise<void> {
  await db
    .deleteFrom('scheduleRuns')
    .where('scheduleUuid', '=', scheduleUuid)
    .where('result', '<>', RunResult.Running)
    .where('position', '<=', (eb) =>
      eb
        .selectFrom('scheduleRuns as newer')
        .select('newer.position')
        .where('newer.scheduleUuid', '=', scheduleUuid)
        .orderBy('newer.position', 'desc')
        .offset(keptRuns)
        .limit(1),
    )
    .execute()
}

/** The runs of a schedule, the newest first. */
export async function listRuns(
  { db }: Database,
  scheduleUuid: string,
  count: number,
): Promise<readonly RunRow[]> {
  return db
    .selectFrom('scheduleRuns')
    .select(runColumns)
    .where('scheduleUuid', '=', scheduleUuid)
    .orderBy('position', 'desc')
    .limit(count)
    .execute()
}

/** The newest run of each schedule, by the schedules' UUIDs. */
export async function lastRuns(
  { db }: Database,
  scheduleUuids: readonly string[],
): Promise<ReadonlyMap<string, RunRow>> {
  const rows = await db
    .selectFrom('scheduleRuns')
    .distinctOn('scheduleUuid')
    .select(runColumns)
    .where('scheduleUuid', '=', anyOf(scheduleUuids))
    .orderBy('scheduleUuid')
    .orderBy('position', 'desc')
    .execute()
  return new Map(rows.map((row) => [row.scheduleUuid, row]))
}

/** Whether a run of the schedule is under way. */
export async function isRunUnderWay({ db }: Database, scheduleUuid: string): Promise<boolean> {
  const row = await db
    .selectFrom('scheduleRuns')
    .select('uuid')
    .where('scheduleUuid', '=', scheduleUuid)
    .where('result', '=', RunResult.Running)
    .executeTakeFirst()
  return row !== undefined
}
