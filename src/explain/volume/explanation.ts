import type { OwnedVolume } from '../../db/volume/search.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import { explainVolume } from '../../domain/volume/explanation.ts'
import { VolumeUse } from '../../domain/volume/state.ts'

/** What a volume is doing and why, from what is recorded about it. */
export function volumeExplanation(volume: OwnedVolume): Explanation {
  const { name, nodeId, phase, made, failure, deleting, hostAway, attachedTo, at, readonly, use } = volume
  return explainVolume({
    name,
    nodeId,
    phase,
    made,
    deleting,
    hostAway,
    ...(failure === null ? {} : { failure }),
    ...(attachedTo === null || at === null
      ? {}
      : { attachedTo: { name: attachedTo.name, at, readonly, live: use === VolumeUse.Live } }),
  })
}
