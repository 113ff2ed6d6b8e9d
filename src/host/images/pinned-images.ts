import type { ImageUse } from './images.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { goesToSleep, permitOf, runs } from '../instance/record.ts'

/**
 * The images of instances that run, sleep or are being started. A stopped instance gets its image again when
 * it starts.
 */
export function pinnedImages(entries: Iterable<InstanceEntry>): readonly ImageUse[] {
  return [...entries].flatMap(({ record, job }) => {
    if (record === undefined) return []
    const isPinned =
      job !== undefined || runs(record) || goesToSleep(record) || permitOf(record) !== undefined
    return isPinned ? [{ digest: record.imageDigest, userUuid: record.nic.userUuid }] : []
  })
}
