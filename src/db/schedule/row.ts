import { ScheduleActionType } from '../../domain/schedule/action.ts'
import type { ScheduleSettings } from '../../domain/schedule/settings.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Row } from '../schema/tables.ts'
import type { SecretBox } from '../secret-box.ts'

/** Columns that readers do not get. */
const inner = ['deletedAt'] as const satisfies readonly (keyof Row<'schedules'>)[]

export const scheduleColumns = columnsOf('schedules', inner)

/** One schedule as readers get it. The entity says what its columns mean. */
export type ScheduleRow = Readonly<Omit<Row<'schedules'>, (typeof inner)[number]>>

/** The part of a schedule that Temporal has, too. */
export function scheduleSettings(row: ScheduleRow): ScheduleSettings {
  const { uuid, name, userUuid, cron, timeZone, paused, catchUpS, overlap, version } = row
  return { scheduleUuid: uuid, name, userUuid, cron, timeZone, paused, catchUpS, overlap, version }
}

export type Variables = Readonly<Record<string, string>>

/** The variables of a run or a rollout, in clear. Empty if the action is neither. */
export function openScheduleEnv(box: SecretBox, row: Pick<ScheduleRow, 'uuid' | 'envSealed'>): Variables {
  if (row.envSealed === null) return {}
  return JSON.parse(box.open(row.envSealed, envContext(row.uuid))) as Variables
}

/** The variables of an action, sealed; null if it is neither a run nor a rollout. */
export function sealScheduleEnv(
  box: SecretBox,
  uuid: string,
  { action, env }: { readonly action: { readonly type: ScheduleActionType }; readonly env: Variables },
): string | null {
  const hasVariables = action.type === ScheduleActionType.Run || action.type === ScheduleActionType.Rollout
  return hasVariables ? box.seal(JSON.stringify(env), envContext(uuid)) : null
}

function envContext(uuid: string): string {
  return `schedule-env/${uuid}`
}
