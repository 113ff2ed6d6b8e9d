import { getSystemErrorName } from 'node:util'
import { findEvent } from './vm-events.ts'
import type { VmEvent } from './vm-events.ts'
import type { VmVolume } from './vmm.ts'

/** The errno of Linux with which ext4 reports a damaged file system; libuv does not know it. */
const damagedErrno = 117

/** Why the guest could not use its volume, for the volume's owner; undefined where it did not complain. */
export function volumeComplaint(
  events: readonly VmEvent[],
  { at }: Pick<VmVolume, 'at'>,
): string | undefined {
  const [why, errno] = findEvent(events, 'volume-unusable')?.words ?? []
  return why === undefined ? undefined : sentence(why, `'${at}'`, errnoName(Number(errno)))
}

/** `guest/init/volume.c` has the same words. */
function sentence(why: string, at: string, reason: string): string {
  switch (why) {
    case 'not-empty':
      return `the volume can not be mounted at ${at}: the image has files there, and a volume needs an empty or a missing directory`
    case 'not-directory':
      return `the volume can not be mounted at ${at}: part of that path is no directory in the image, and no link to one`
    case 'reserved':
      return `the volume can not be mounted at ${at}: a link in the image leads from there to a path of the platform's`
    case 'not-made':
      return `the volume can not be mounted at ${at}: the directory could not be made (${reason})`
    case 'not-mounted':
      return `the volume can not be mounted at ${at}: its file system was refused (${reason})`
    default:
      return `the volume can not be mounted at ${at}: the guest did not find its disk`
  }
}

function errnoName(errno: number): string {
  if (errno === damagedErrno) return 'it is damaged'
  return Number.isInteger(errno) && errno > 0 ? getSystemErrorName(-errno) : 'no reason given'
}
