import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { autoscaleSettings, selectAutoscaleSettings } from './settings.ts'
import type { Database } from '../database.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import { workflowSettings } from '../instance/settings.ts'
import { anyOf } from '../sql/lists.ts'

/**
 * The configurations and clones that were marked deleted together with an instance because it was a master.
 */
export interface GoneWithMaster {
  readonly configurations: readonly AutoscaleSettings[]
  readonly clones: readonly InstanceSettings[]
}

/**
 * Reads what was deleted together with this instance, which is marked deleted. Both lists are empty if it
 * was no master.
 */
export async function findGoneWithMaster(
  { db }: Database,
  { uuid, serviceUuid }: Pick<InstanceRow, 'uuid' | 'serviceUuid'>,
): Promise<GoneWithMaster> {
  if (serviceUuid === null) return { configurations: [], clones: [] }
  const configurations = await selectAutoscaleSettings(db)
    .where('autoscaleConfigurations.masterUuid', '=', uuid)
    .where('autoscaleConfigurations.deletedAt', 'is not', null)
    .execute()
  if (configurations.length === 0) return { configurations: [], clones: [] }
  const clones = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .where('serviceUuid', '=', serviceUuid)
    .where('cloneOf', '=', uuid)
    .where('deletedAt', 'is not', null)
    .orderBy('position')
    .execute()
  return { configurations: configurations.map(autoscaleSettings), clones: clones.map(workflowSettings) }
}

type Master = Pick<InstanceRow, 'uuid' | 'name'>

/** The masters of those rows that are clones, by the master's UUID. */
export async function mastersOf(
  { db }: Database,
  rows: readonly Pick<InstanceRow, 'cloneOf'>[],
): Promise<ReadonlyMap<string, Master>> {
  const uuids = [...new Set(rows.flatMap(({ cloneOf }) => cloneOf ?? []))]
  if (uuids.length === 0) return new Map()
  const found = await db
    .selectFrom('instances')
    .select(['uuid', 'name'])
    .where('uuid', '=', anyOf(uuids))
    .execute()
  return new Map(found.map((master) => [master.uuid, master]))
}
