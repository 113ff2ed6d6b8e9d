import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * An instance's console is a directory of segments named after the offset of their first byte,
 * `<16 digits>.log`. The writer fills a segment up to `consoleSegmentBytes`, then begins the next one and
 * drops the oldest ones, so that `consoleSegmentsKept` remain. So offsets stay true for ever, a guest that
 * prints without end costs 4 MiB, and a reader needs no other data. While a VM runs, its keeper is the
 * writer and follows the same rules.
 */
export const consoleSegmentBytes = 1024 * 1024
export const consoleSegmentsKept = 4
const offsetDigits = 16
const segmentPattern = /^(\d{16})\.log$/

export interface ConsoleSegment {
  readonly start: number
  readonly path: string
}

export function segmentName(start: number): string {
  return `${String(start).padStart(offsetDigits, '0')}.log`
}

/**
 * Returns the segments of a console, the oldest first. A directory that does not exist is an empty console.
 */
export async function listSegments(directory: string): Promise<readonly ConsoleSegment[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .map((name) => segmentPattern.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((one, other) => one - other)
    .map((start) => ({ start, path: join(directory, segmentName(start)) }))
}

/**
 * The offset at which the console ends. It is undefined if the newest segment of the list was dropped in the
 * meantime.
 */
export async function endOfSegments(segments: readonly ConsoleSegment[]): Promise<number | undefined> {
  const newest = segments.at(-1)
  if (newest === undefined) return 0
  const found = await stat(newest.path).catch(() => undefined)
  return found === undefined ? undefined : newest.start + found.size
}
