import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import type { Db, Row } from '../schema/tables.ts'

/** The columns that the workflow of a configuration has to know. */
type AutoscaleSettingsRow = Readonly<
  Pick<Row<'autoscaleConfigurations'>, 'serviceUuid' | 'userUuid' | 'target'> & { serviceName: string }
>

/**
 * Selects the settings of all configurations; the caller adds the conditions. The inner join loses none,
 * because every configuration has its service.
 */
export function selectAutoscaleSettings(db: Db) {
  return db
    .selectFrom('autoscaleConfigurations')
    .innerJoin('services', 'services.uuid', 'autoscaleConfigurations.serviceUuid')
    .select([
      'autoscaleConfigurations.serviceUuid',
      'autoscaleConfigurations.userUuid',
      'autoscaleConfigurations.target',
      'services.name as serviceName',
    ])
}

export function autoscaleSettings(row: AutoscaleSettingsRow): AutoscaleSettings {
  const { serviceUuid, serviceName, userUuid, target } = row
  return { serviceUuid, serviceName, userUuid, ...(target !== null && { target }) }
}
