import type { getVolumes } from '../../contract/volume/operations.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import { listVolumes } from '../../db/volume/volumes.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentVolume } from './view.ts'
import { forEachVolume, volumePage } from './objects.ts'

/** The status of the named volumes, or of all; if of all, the entries have no `status` of their own. */
export function volumesStatus(deps: ApiDeps): Handler<typeof getVolumes> {
  return async ({ objects, query, page }, call) => {
    const present = query.details === false ? presentIdentity : presentVolume
    if (objects.length === 0) {
      const filter = await volumePage(deps, call, page)
      const rows = await listVolumes(deps.database, call.identity.userUuid, filter)
      return { entries: rows.map(present) }
    }
    const entries = await forEachVolume(deps, call, objects, async (row) => ({
      status: 'success' as const,
      ...present(row),
    }))
    return { entries }
  }
}

function presentIdentity({ uuid, name }: VolumeRow) {
  return { uuid, name }
}
