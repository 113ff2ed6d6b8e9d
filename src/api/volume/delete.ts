import type { deleteVolumes } from '../../contract/volume/operations.ts'
import { markVolumeDeleted } from '../../db/volume/delete.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedVolume, forEachVolume } from './objects.ts'
import { tellVolumeDeleted } from './workflows.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/**
 * Marks volumes as deleted. From then on their users no longer see them. The workflow of each hears of that
 * now or at the next sweep, and erases the volume on the host.
 */
export function volumesDelete(deps: ApiDeps): Handler<typeof deleteVolumes> {
  return async ({ objects }, call) => {
    const entries = await forEachVolume(deps, call, objects, async ({ uuid, name }) => {
      const outcome = await markVolumeDeleted(deps.database, call.identity.userUuid, uuid, call.asker)
      if (!outcome.ok) return failedVolume({ uuid, name }, writeRefusalProblem(outcome.refusal))
      await tellVolumeDeleted(deps, call, outcome.volume)
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
