import { isUuid } from '../../domain/object-name.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { Database } from '../database.ts'
import type { Db } from '../schema/tables.ts'
import { ago } from '../sql/time.ts'
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

/** If more volumes have one name, a list of them does not help to tell them apart. */
const maxFound = 20

/** In the order of their creation. */
function ownedVolumes(db: Db, userName: string | undefined) {
  const found = selectVolumes(db).select((eb) =>
    eb('volumes.deletedAt', 'is not', null).$castTo<boolean>().as('deleting'),
  )
  return db
    .selectFrom(found.as('found'))
    .innerJoin('users', 'users.uuid', 'found.userUuid')
    .innerJoin('nodes', 'nodes.id', 'found.nodeId')
    .selectAll('found')
    .select((eb) => [
      'users.name as userName',
      eb('nodes.heartbeatAt', '<=', ago(nodeSilentAfterMs)).$castTo<boolean>().as('hostAway'),
    ])
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
    .orderBy('found.position')
}

/**
 * For administrators: all volumes, those that are being deleted among them, or those of one user; in the
 * order of their creation.
 */
export async function overlookVolumes(
  { db }: Database,
  of: { readonly userName?: string } = {},
): Promise<readonly OwnedVolume[]> {
  return ownedVolumes(db, of.userName).execute()
}

/**
 * For administrators: the volume of that UUID, also while it is being deleted, or every user's volume of that
 * name, or that of `userName` alone.
 */
export async function searchVolumes(
  { db }: Database,
  wanted: { readonly uuidOrName: string; readonly userName?: string },
): Promise<readonly OwnedVolume[]> {
  const { uuidOrName, userName } = wanted
  return ownedVolumes(db, userName)
    .where((eb) => {
      const isNamed = eb.and([eb('found.name', '=', uuidOrName), eb('found.deleting', '=', false)])
      // PostgreSQL would fail the query for a text that is no UUID.
      return isUuid(uuidOrName) ? eb.or([eb('found.uuid', '=', uuidOrName), isNamed]) : isNamed
    })
    .limit(maxFound)
    .execute()
}
