import { exists, stagedVolumes, VolumeStage } from './volume-directory.ts'
import { readRoom } from './volume-room.ts'
import type { VolumeRoom } from './volumes.ts'

/**
 * Reads the volumes of a host from another process, even while no agent runs. Undefined if no agent has
 * opened the directory yet.
 */
export async function surveyVolumes(
  directory: string,
): Promise<{ readonly room: VolumeRoom; readonly uuids: readonly string[] } | undefined> {
  if (!(await exists(directory))) return undefined
  const found = await stagedVolumes(directory)
  const uuids = found.filter(({ stage }) => stage === VolumeStage.Complete).map(({ uuid }) => uuid)
  return { room: await readRoom(directory), uuids }
}
