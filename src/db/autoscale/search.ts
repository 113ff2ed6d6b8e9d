import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import { isUuid } from '../../domain/object-name.ts'
import type { Database } from '../database.ts'

/** A service as an administrator sees how it is scaled. */
export interface OwnedAutoscale {
  readonly serviceUuid: string
  readonly serviceName: string
  readonly userName: string
  /** Null where it is not configured. */
  readonly configuration: AutoscaleConfiguration | null
  /** Since then the configuration is being closed. */
  readonly deletedAt: Date | null
  readonly target: number | null
  /** Clones that are given back and still there. */
  readonly leaving: readonly string[]
}

/** More of one name are not told apart by listing them. */
const maxFound = 20

/**
 * For administrators: the service of that UUID, or what every user, or `userName` alone, has of that name.
 */
export async function searchAutoscaled(
  database: Database,
  wanted: { readonly uuidOrName: string; readonly userName?: string },
): Promise<readonly OwnedAutoscale[]> {
  const { uuidOrName, userName } = wanted
  return database.rows<OwnedAutoscale>({
    name: 'search-autoscaled',
    text: `select s.uuid as "serviceUuid", s.name as "serviceName", users.name as "userName",
             c.deleted_at as "deletedAt", c.target,
             case when c.service_uuid is not null then json_build_object('minSize', c.min_size, 'maxSize', c.max_size,
               'warmupMs', c.warmup_ms, 'cooldownMs', c.cooldown_ms, 'policies', c.policies) end as "configuration",
             array(select i.name from instances i where i.service_uuid = s.uuid and i.clone_of is not null
               and i.retired_at is not null and i.deleted_at is null order by i.position) as "leaving"
           from services s join users on users.uuid = s.user_uuid
             left join autoscale_configurations c on c.service_uuid = s.uuid
           where (s.uuid = $1::uuid or s.name = $2) and ($3::text is null or users.name = $3)
           order by users.name limit $4`,
    values: [isUuid(uuidOrName) ? uuidOrName : null, uuidOrName, userName ?? null, maxFound],
  })
}
