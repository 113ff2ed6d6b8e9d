import { isUuid } from '../../domain/object-name.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { Database } from '../database.ts'
import { selectVolumes } from './row.ts'
import type { VolumeRow } from './row.ts'

/** A volume as an administrator sees it. */
export interface OwnedVolume extends VolumeRow {
  readonly userName: string
  /** Its owner sees it no more; it goes as soon as its host is clean. */
  readonly deleting: boolean
  /** Its host was not heard of lately. */
  readonly hostAway: boolean
}

/** More of one name are not told apart by listing them. */
const maxFound = 20

const ownedVolumes = `select found.*, users.name as "userName",
    (select deleted_at is not null from volumes where uuid = found.uuid) as deleting,
    nodes.heartbeat_at <= now() - make_interval(secs => $1) as "hostAway"
  from (${selectVolumes}) as found
    join users on users.uuid = found."userUuid" join nodes on nodes.id = found."nodeId"`

/**
 * For administrators: all volumes, those that are being deleted among them, or those of one user; in the
 * order of their creation.
 */
export async function overlookVolumes(
  database: Database,
  of: { readonly userName?: string } = {},
): Promise<readonly OwnedVolume[]> {
  return database.rows<OwnedVolume>({
    name: 'overlook-volumes',
    text: `${ownedVolumes} where $2::text is null or users.name = $2 order by found.position`,
    values: [nodeSilentAfterMs / 1_000, of.userName ?? null],
  })
}

/**
 * For administrators: the volume of that UUID, also while it is being deleted, or every user's volume of that
 * name, or that of `userName` alone.
 */
export async function searchVolumes(
  database: Database,
  wanted: { readonly uuidOrName: string; readonly userName?: string },
): Promise<readonly OwnedVolume[]> {
  const { uuidOrName, userName } = wanted
  return database.rows<OwnedVolume>({
    name: 'search-volumes',
    text: `select * from (${ownedVolumes}) as owned
           where (uuid = $2::uuid or (name = $3 and not deleting)) and ($4::text is null or "userName" = $4)
           order by position limit $5`,
    values: [
      nodeSilentAfterMs / 1_000,
      isUuid(uuidOrName) ? uuidOrName : null,
      uuidOrName,
      userName ?? null,
      maxFound,
    ],
  })
}
