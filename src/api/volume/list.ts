import type { listVolumes } from '../../contract/volume/operations.ts'
import { listVolumeNames } from '../../db/volume/volumes.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { volumePage } from './objects.ts'

/** The names of volumes that match everything in one of the filters. */
export function volumesList(deps: ApiDeps): Handler<typeof listVolumes> {
  return async ({ objects, page }, call) => {
    const filters = objects.map(({ parameters: { persistent, state } }) => ({
      ...(persistent === undefined ? {} : { persistent }),
      ...(state === undefined ? {} : { state }),
    }))
    const filter = { ...(await volumePage(deps, call, page)), filters }
    const rows = await listVolumeNames(deps.database, call.identity.userUuid, filter)
    return { entries: rows.map(({ uuid, name }) => ({ uuid, name })) }
  }
}
