import { explainVolume } from '../../src/domain/volume/explanation.ts'
import type { VolumeLife } from '../../src/domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../../src/domain/volume/settings.ts'

/** What the Web UI shows of a volume. The volume's workflow does not know which instance has it. */
export function volumeDetails(
  life: VolumeLife,
  { name, nodeId, sizeMb, nodeAway }: VolumeSettings & { readonly nodeAway: boolean },
): string {
  const { phase, made, failure, deleting } = life
  const known = failure === undefined ? {} : { failure }
  const told = explainVolume({ name, nodeId, phase, made, deleting, hostAway: nodeAway, ...known })
  const rests = phase === 'ready' && !deleting
  const lines = [
    rests ? `${name}: **ready**` : `**${deleting ? 'deleting' : phase}**: ${told.now}`,
    '',
    `- next: ${rests ? 'nothing, until it is repaired or deleted' : told.next}`,
    `- ${sizeMb} MB on host ${nodeId}, ${made ? 'made' : 'never made yet'}`,
  ]
  if (told.failure !== undefined) lines.push(`- why: ${told.failure}`)
  return lines.join('\n')
}
