import { readFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

/**
 * Whether any process has a lock on the file. The VMM has one while its VM runs, and a tool has one while it
 * works on the file. This check is a second guard; the first is the hold. On file systems that number their
 * devices differently for each mount (btrfs, overlay) the check sees no locks.
 */
export async function isLocked(file: FileHandle): Promise<boolean> {
  const { dev, ino } = await file.stat({ bigint: true })
  const hex = (number: bigint): string => number.toString(16).padStart(2, '0')
  const place = ` ${hex(majorOf(dev))}:${hex(minorOf(dev))}:${ino} `
  return (await readFile('/proc/locks', 'utf8')).includes(place)
}

/** Like glibc's `major`; `minorOf` is like its `minor`. They take a device's number apart. */
function majorOf(dev: bigint): bigint {
  return ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
}

function minorOf(dev: bigint): bigint {
  return (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
}
