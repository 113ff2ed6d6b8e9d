import type { explainVolumes } from '../../contract/volume/operations.ts'
import { ownedVolumesOf } from '../../db/volume/search.ts'
import { explanationText } from '../../explain/explanation-text.ts'
import { volumeExplanation } from '../../explain/volume/explanation.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { forEachVolume, volumeKind } from './objects.ts'

/** What volumes are doing and why, and what comes next. */
export function volumesExplain(deps: ApiDeps): Handler<typeof explainVolumes> {
  return async ({ objects }, call) => {
    const entries = await forEachVolume(deps, call, objects, async ({ uuid, name }) => {
      const [volume] = await ownedVolumesOf(deps.database, [uuid])
      // The volume was deleted since it was found.
      if (volume === undefined || volume.deleting)
        return missingEntry(volumeKind, { by: 'uuid', value: uuid })
      const explanation = volumeExplanation(volume)
      const { state, nodeId: host } = volume
      const text = explanationText(explanation)
      return { status: 'success' as const, uuid, name, state, ...explanation, text, host }
    })
    return { entries }
  }
}
