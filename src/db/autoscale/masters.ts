import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { autoscaleSettings, autoscaleSettingsColumns } from './settings.ts'
import type { AutoscaleSettingsRow } from './settings.ts'
import type { Database } from '../database.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import { workflowSettings } from '../instance/settings.ts'

/** What was marked deleted together with an instance, because autoscale cloned that. */
export interface GoneWithMaster {
  readonly configurations: readonly AutoscaleSettings[]
  readonly clones: readonly InstanceSettings[]
}

/** Of an instance that is marked deleted, and of its service; nothing where it was no master. */
export async function findGoneWithMaster(
  database: Database,
  { uuid, serviceUuid }: Pick<InstanceRow, 'uuid' | 'serviceUuid'>,
): Promise<GoneWithMaster> {
  if (serviceUuid === null) return { configurations: [], clones: [] }
  const configurations = await database.rows<AutoscaleSettingsRow>({
    name: 'autoscale-gone-with-master',
    text: `select ${autoscaleSettingsColumns} from autoscale_configurations
           where master_uuid = $1 and deleted_at is not null`,
    values: [uuid],
  })
  if (configurations.length === 0) return { configurations: [], clones: [] }
  const clones = await database.rows<InstanceRow>({
    name: 'clones-gone-with-master',
    text: `select ${instanceColumns} from instances
           where service_uuid = $2 and clone_of = $1 and deleted_at is not null order by position`,
    values: [uuid, serviceUuid],
  })
  return { configurations: configurations.map(autoscaleSettings), clones: clones.map(workflowSettings) }
}

interface Master {
  readonly uuid: string
  readonly name: string
}

/** The masters of those that are clones, by UUID. */
export async function mastersOf(
  database: Database,
  rows: readonly Pick<InstanceRow, 'cloneOf'>[],
): Promise<ReadonlyMap<string, Master>> {
  const uuids = [...new Set(rows.flatMap(({ cloneOf }) => cloneOf ?? []))]
  if (uuids.length === 0) return new Map()
  const found = await database.rows<Master>({
    name: 'masters-of-clones',
    text: 'select uuid, name from instances where uuid = any($1::uuid[])',
    values: [uuids],
  })
  return new Map(found.map((master) => [master.uuid, master]))
}
