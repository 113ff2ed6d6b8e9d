import { isUuid } from '../../domain/object-name.ts'
import type { Database } from '../database.ts'
import { isLive } from '../host/live.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { selectVolumes } from './row.ts'
import type { VolumeRow } from './row.ts'

/** A volume as an administrator sees it. */
export interface OwnedVolume extends VolumeRow {
  readonly userName: string
  /**
   * Whether the volume is deleted, so that its owner does not see it any more. The row is removed once the
   * host has removed the volume.
   */
  readonly deleting: boolean
  /** Whether the volume's host has sent no heartbeat lately. */
  readonly hostAway: boolean
}

/** How many volumes are found at most. A longer list would not help to tell volumes of one name apart. */
const maxFound = 20

/** Volumes in the order of their creation. */
function ownedVolumes(db: Db, userName: string | undefined) {
  const found = selectVolumes(db).select((eb) =>
    eb('volumes.deletedAt', 'is not', null).$castTo<boolean>().as('deleting'),
  )
  return db
    .selectFrom(found.as('found'))
    .innerJoin('users', 'users.uuid', 'found.userUuid')
    .innerJoin('nodes', 'nodes.id', 'found.nodeId')
    .selectAll('found')
    .select((eb) => ['users.name as userName', eb.not(isLive(eb)).$castTo<boolean>().as('hostAway')])
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
    .orderBy('found.position')
}

/**
 * For administrators: all volumes, or those of one user, in the order of their creation. Volumes that are
 * being deleted are included.
 */
export async function overlookVolumes(
  { db }: Database,
  of: { readonly userName?: string } = {},
): Promise<readonly OwnedVolume[]> {
  return ownedVolumes(db, of.userName).execute()
}

/**
 * For administrators: the volume with this UUID, also while it is being deleted, and the volumes with this
 * name, of every user or of `userName` alone.
 */
export async function searchVolumes(
  { db }: Database,
  wanted: { readonly uuidOrName: string; readonly userName?: string },
): Promise<readonly OwnedVolume[]> {
  const { uuidOrName, userName } = wanted
  return ownedVolumes(db, userName)
    .where((eb) => {
      const isNamed = eb.and([eb('found.name', '=', uuidOrName), eb('found.deleting', '=', false)])
      // PostgreSQL would fail the query if the text is no UUID.
      return isUuid(uuidOrName) ? eb.or([eb('found.uuid', '=', uuidOrName), isNamed]) : isNamed
    })
    .limit(maxFound)
    .execute()
}

/**
 * The volumes with these UUIDs, in the order of their creation. Nothing is looked for by name, so a volume
 * whose name has the form of another's UUID is never found in its place.
 */
export async function ownedVolumesOf(
  { db }: Database,
  uuids: readonly string[],
): Promise<readonly OwnedVolume[]> {
  if (uuids.length === 0) return []
  return ownedVolumes(db, undefined).where('found.uuid', '=', anyOf(uuids)).execute()
}
