import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'

/** What of a configuration's row its workflow has to know. */
export interface AutoscaleSettingsRow {
  readonly serviceUuid: string
  readonly serviceName: string
  readonly userUuid: string
  readonly target: number | null
}

/** The select list whose rows are these, from `autoscale_configurations` alone. */
export const autoscaleSettingsColumns = `service_uuid as "serviceUuid", user_uuid as "userUuid", target,
  (select name from services where services.uuid = service_uuid) as "serviceName"`

export function autoscaleSettings(row: AutoscaleSettingsRow): AutoscaleSettings {
  const { serviceUuid, serviceName, userUuid, target } = row
  return { serviceUuid, serviceName, userUuid, ...(target !== null && { target }) }
}
