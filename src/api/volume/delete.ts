import type { deleteVolumes } from '../../contract/volume/operations.ts'
import { markVolumeDeleted } from '../../db/volume/delete.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedVolume, forEachVolume } from './objects.ts'
import { tellVolumeDeleted } from './workflows.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/**
 * From the mark on nobody sees the volume any more; its workflow, now or at the next sweep, erases it on the
 * host.
 */
export function volumesDelete(deps: ApiDeps): Handler<typeof deleteVolumes> {
  return async ({ objects }, call) => {
    const entries = await forEachVolume(deps, call, objects, async ({ uuid, name }) => {
      const outcome = await markVolumeDeleted(deps.database, call.identity.userUuid, uuid)
      if (!outcome.ok) return failedVolume({ uuid, name }, writeRefusalProblem(outcome.refusal))
      await tellVolumeDeleted(deps, call, outcome.volume)
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
