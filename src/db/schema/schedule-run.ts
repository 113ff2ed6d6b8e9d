import { defineEntity, p } from '@mikro-orm/postgresql'
import { RunResult } from '../../domain/schedule/run.ts'
import { Schedule } from './schedule.ts'

/** One run of a schedule. Only the last ones of each schedule are kept. */
export const ScheduleRun = defineEntity({
  name: 'ScheduleRun',
  tableName: 'schedule_runs',
  indexes: [{ name: 'schedule_runs_list_index', properties: ['schedule', 'position'] }],
  uniques: [{ name: 'schedule_runs_key_unique', properties: ['schedule', 'runKey'] }],
  properties: {
    uuid: p.uuid().primary(),
    /** The order in which runs began. */
    position: p.bigint('number').autoincrement(),
    schedule: () => p.manyToOne(Schedule).deleteRule('cascade'),
    /** The id of the first execution of the run's workflow. With it, a repeated attempt finds the run. */
    runKey: p.text(),
    /** When the run was due. */
    scheduledAt: p.datetime(3),
    startedAt: p.datetime(3).defaultRaw('now()'),
    endedAt: p.datetime(3).nullable(),
    result: p.enum(() => RunResult).default(RunResult.Running),
    reason: p.text().nullable(),
    /** How long an instance of the run may take. The action may have changed since the run began. */
    timeoutMs: p.integer().default(0),
    /** The instance that the run made. It is gone once the run is over, so this is no reference. */
    instanceUuid: p.uuid().nullable(),
    instanceName: p.text().nullable(),
    /** The rollout that the run began. It is gone with its service, so this is no reference. */
    rolloutUuid: p.uuid().nullable(),
    /** When the run asked its instance to stop, because its time was over. */
    stopAskedAt: p.datetime(3).nullable(),
    exitCode: p.integer().nullable(),
    stopReason: p.integer().nullable(),
    /** The last part of what the instance printed. */
    logTail: p.text().nullable(),
  },
})
