import type { Database } from '../../db/database.ts'
import { absenceOf } from '../../db/host/administration.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { ownedVolumesOf } from '../../db/volume/search.ts'
import { placementWords } from '../../domain/host/placement-words.ts'
import { explain } from '../../domain/instance/explanation.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import { moveSentence } from '../../domain/instance/move-words.ts'
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
  /** What a move to another host does, or why it failed. Absent: there is nothing to tell of one. */
  readonly move?: string
  /** The explanation of its volume. A healthy volume explains nothing, so it is left out. */
  readonly volume?: Explanation
}

/** Explains an instance from its row, and from what its host and its workflow say about it. */
export async function instanceExplanation(
  database: Database,
  row: InstanceRow,
  { readLease, readDrainUntil, nowMs }: InstanceSources,
): Promise<InstanceExplanation> {
  const absence = await absenceOf(database, row.nodeId)
  // An answer of a lost host would be waited for in vain.
  const isLost = absence !== undefined && absence.lostAt !== null
  const told = isLost ? `host ${row.nodeId} is lost` : await readLease({ uuid: row.uuid, nodeId: row.nodeId })
  const isSilent = typeof told === 'string'
  const drainUntilMs = row.state === InstanceState.Draining ? await readDrainUntil(row.uuid) : undefined
  const volume = await troubledVolume(database, row)
  const placed = placedIn(row)
  const move = row.move === null ? undefined : moveSentence(row.move)
  const facts = {
    ...factsOf(row),
    ...(drainUntilMs === undefined ? {} : { drainUntilMs }),
    ...(isSilent && absence && { hostSilentSinceMs: absence.heardAt.getTime() }),
    ...(isLost && absence.lostAt !== null && { hostLostSinceMs: absence.lostAt.getTime() }),
  }
  return {
    ...explain(facts, isSilent ? undefined : told, nowMs),
    ...(isSilent ? { trouble: told } : {}),
    ...(isSilent || told === undefined ? {} : { lease: told }),
    ...(placed === undefined ? {} : { placed }),
    ...(move === undefined ? {} : { move }),
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
export function instanceText({ placed, move, volume, ...explanation }: InstanceExplanation): string {
  const lines = [explanationText(explanation)]
  if (placed !== undefined) lines.push(`placement: ${placed}`)
  if (move !== undefined) lines.push(`move: ${move}`)
  if (volume !== undefined) lines.push(`its volume: ${explanationText(volume)}`)
  return lines.join('\n')
}

/** The line before the text if the host did not answer. */
export function instanceNote({ trouble }: InstanceExplanation): string | undefined {
  return trouble === undefined ? undefined : recordedOnly(trouble)
}
