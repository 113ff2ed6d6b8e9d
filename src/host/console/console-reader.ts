import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { LogWindow } from '../../domain/host/api-protocol.ts'
import { endOfSegments, listSegments } from './console-segments.ts'
import type { ConsoleSegment } from './console-segments.ts'
import { rangeOf } from './log-range.ts'
import type { ByteRange } from './log-range.ts'

/**
 * The most bytes in one answer, however many a request asks for. The API's own limit for a page is smaller.
 */
export const consoleWindowMaxBytes = 256 * 1024

/**
 * How often a read is tried. A try fails if a segment was dropped after the segments were listed. That means
 * that the log has grown by 1 MiB meanwhile.
 */
const readAttempts = 5

/**
 * Reads at most `limit` bytes of the console; `rangeOf` says which ones. It never reads more than it
 * returns. A writer may write at the same time: the answer is one piece without gaps, and ends early rather
 * than skip a byte.
 */
export async function readConsole(
  directory: string,
  request: { readonly offset: number; readonly limit: number },
): Promise<LogWindow> {
  const bounded = { offset: request.offset, limit: Math.min(request.limit, consoleWindowMaxBytes) }
  for (let attempt = 1; attempt <= readAttempts; attempt += 1) {
    const window = await readOnce(directory, bounded)
    if (window !== undefined) return window
  }
  throw new Error(
    `the console in ${directory} could not be read: ${String(readAttempts)} times a segment was dropped meanwhile`,
  )
}

async function readOnce(
  directory: string,
  request: { readonly offset: number; readonly limit: number },
): Promise<LogWindow | undefined> {
  const segments = await listSegments(directory)
  const end = await endOfSegments(segments)
  if (end === undefined) return undefined
  const available = { start: segments[0]?.start ?? 0, end }
  const range = rangeOf(request, available)
  const bytes = await readRange(segments, range)
  if (bytes === undefined) return undefined
  return {
    availableStart: available.start,
    availableEnd: available.end,
    rangeStart: range.start,
    rangeEnd: range.start + bytes.length,
    outputBase64: bytes.toString('base64'),
  }
}

/** Returns undefined if a segment of the range was dropped. */
async function readRange(segments: readonly ConsoleSegment[], range: ByteRange): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(range.end - range.start)
  let at = range.start
  for (const [index, segment] of segments.entries()) {
    const segmentEnd = Math.min(segments[index + 1]?.start ?? range.end, range.end)
    if (at < segment.start || at >= segmentEnd) continue
    const piece = bytes.subarray(at - range.start, segmentEnd - range.start)
    const read = await readPiece(segment, at - segment.start, piece)
    if (read === undefined) return undefined
    at += read
    if (read < piece.length) break
  }
  return bytes.subarray(0, at - range.start)
}

async function readPiece(
  segment: ConsoleSegment,
  position: number,
  into: Buffer,
): Promise<number | undefined> {
  const file = await open(segment.path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (file === undefined) return undefined
  try {
    return await readFully(file, position, into)
  } finally {
    await file.close()
  }
}

async function readFully(file: FileHandle, position: number, into: Buffer): Promise<number> {
  let done = 0
  while (done < into.length) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return done
}
