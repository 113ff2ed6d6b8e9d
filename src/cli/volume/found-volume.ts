import type { Database } from '../../db/database.ts'
import { searchVolumes } from '../../db/volume/search.ts'
import type { OwnedVolume } from '../../db/volume/search.ts'
import { isUuid, parseObjectName } from '../../domain/object-name.ts'
import { CliFailure } from '../cli-failure.ts'

/**
 * Finds a volume. Returns undefined if there is none. Throws if several users have a volume of this name.
 */
export async function findVolume(
  database: Database,
  wanted: string,
  userName?: string,
): Promise<OwnedVolume | undefined> {
  const uuidOrName = isUuid(wanted) ? wanted : (parseObjectName(wanted) ?? wanted)
  const found = await searchVolumes(database, {
    uuidOrName,
    ...(userName === undefined ? {} : { userName }),
  })
  if (found.length > 1) {
    throw new CliFailure(`several users have a volume '${wanted}': name one with --user`)
  }
  return found[0]
}

export async function requireVolume(
  database: Database,
  wanted: string,
  userName?: string,
): Promise<OwnedVolume> {
  const volume = await findVolume(database, wanted, userName)
  if (volume === undefined)
    throw new CliFailure(`there is no volume '${wanted}'${userName === undefined ? '' : ` of ${userName}`}`)
  return volume
}
