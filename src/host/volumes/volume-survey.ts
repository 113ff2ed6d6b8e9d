import { exists, stagedVolumes, VolumeStage } from './volume-directory.ts'
import { readRoom } from './volume-room.ts'
import type { VolumeRoom } from './volumes.ts'

/**
 * What a look from outside finds, also while the agent is away; undefined where no agent has opened the
 * directory yet.
 */
export async function surveyVolumes(
  directory: string,
): Promise<{ readonly room: VolumeRoom; readonly uuids: readonly string[] } | undefined> {
  if (!(await exists(directory))) return undefined
  const found = await stagedVolumes(directory)
  const uuids = found.filter(({ stage }) => stage === VolumeStage.Complete).map(({ uuid }) => uuid)
  return { room: await readRoom(directory), uuids }
}
