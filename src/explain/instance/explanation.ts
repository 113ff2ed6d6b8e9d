import type { Database } from '../../db/database.ts'
import { silentSinceOf } from '../../db/host/administration.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { ownedVolumesOf } from '../../db/volume/search.ts'
import { placementWords } from '../../domain/host/placement-words.ts'
import { explain } from '../../domain/instance/explanation.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { HostLeaseView } from '../../domain/standby/lease-protocol.ts'
import { VolumePhase } from '../../domain/volume/state.ts'
import { explanationText, recordedOnly } from '../explanation-text.ts'
import { volumeExplanation } from '../volume/explanation.ts'
import { factsOf } from './explained-instance.ts'
import type { ReadLease } from './host-lease.ts'

/** What the database does not have, and how it is asked for. */
export interface InstanceSources {
  readonly readLease: ReadLease
  /**
   * The time until which an instance drains, which only its workflow knows. Undefined if there is no answer;
   * the explanation then leaves it out.
   */
  readonly readDrainUntil: (instanceUuid: string) => Promise<number | undefined>
  readonly nowMs: number
}

export interface InstanceExplanation extends Explanation {
  /** Why the host's view is missing, if the host was asked and did not answer. */
  readonly trouble?: string
  readonly lease?: HostLeaseView
  /** Why the instance is on its host. Absent: nothing is known of that. */
  readonly placed?: string
  /** The explanation of its volume. A healthy volume explains nothing, so it is left out. */
  readonly volume?: Explanation
}

/** Explains an instance from its row, and from what its host and its workflow say about it. */
export async function instanceExplanation(
  database: Database,
  row: InstanceRow,
  { readLease, readDrainUntil, nowMs }: InstanceSources,
): Promise<InstanceExplanation> {
  const told = await readLease({ uuid: row.uuid, nodeId: row.nodeId })
  const isSilent = typeof told === 'string'
  const drainUntilMs = row.state === InstanceState.Draining ? await readDrainUntil(row.uuid) : undefined
  const silentSince = isSilent ? await silentSinceOf(database, row.nodeId) : undefined
  const volume = await troubledVolume(database, row)
  const placed = placedIn(row)
  const facts = {
    ...factsOf(row),
    ...(drainUntilMs === undefined ? {} : { drainUntilMs }),
    ...(silentSince === undefined ? {} : { hostSilentSinceMs: silentSince.getTime() }),
  }
  return {
    ...explain(facts, isSilent ? undefined : told, nowMs),
    ...(isSilent ? { trouble: told } : {}),
    ...(isSilent || told === undefined ? {} : { lease: told }),
    ...(placed === undefined ? {} : { placed }),
    ...(volume === undefined ? {} : { volume }),
  }
}

function placedIn({ nodeId, placement, volumeUuid }: InstanceRow): string | undefined {
  const hasVolume = volumeUuid !== null
  return placementWords({ nodeId, hasVolume, ...(placement !== null && { reason: placement }) })
}

async function troubledVolume(
  database: Database,
  { volumeUuid }: InstanceRow,
): Promise<Explanation | undefined> {
  if (volumeUuid === null) return undefined
  const [volume] = await ownedVolumesOf(database, [volumeUuid])
  return volume === undefined || volume.phase === VolumePhase.Ready ? undefined : volumeExplanation(volume)
}

/** The explanation as text, without the line that says that the host did not answer. */
export function instanceText({ placed, volume, ...explanation }: InstanceExplanation): string {
  const lines = [explanationText(explanation)]
  if (placed !== undefined) lines.push(`placement: ${placed}`)
  if (volume !== undefined) lines.push(`its volume: ${explanationText(volume)}`)
  return lines.join('\n')
}

/** The line before the text if the host did not answer. */
export function instanceNote({ trouble }: InstanceExplanation): string | undefined {
  return trouble === undefined ? undefined : recordedOnly(trouble)
}
