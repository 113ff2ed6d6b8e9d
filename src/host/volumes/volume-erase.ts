import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { unlessMissing } from './volume-directory.ts'
import { mebibyte } from './volume-format.ts'
import { runVolumeTool, volumeInTool, volumeOwner } from './volume-tool.ts'

const chunkBytes = 4 * mebibyte
/**
 * The bytes of one step. After each step the file is made durable and cut, so that an interrupted erase
 * continues there.
 */
const stepBytes = 256 * mebibyte
const mapLimitMs = 60_000
/**
 * The most bytes of a map that are read: about a hundred thousand extents. A file with more extents is read
 * as a whole instead.
 */
const maxMapBytes = 8 * mebibyte

export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Overwrites all that the file has on the disk with zeros, and cuts the file to length 0. A missing file
 * counts as erased.
 */
export async function eraseFile(input: {
  readonly uuid: string
  readonly path: string
  readonly signal?: AbortSignal | undefined
}): Promise<void> {
  const file = await open(input.path, 'r+').catch(unlessMissing)
  if (file === undefined) return
  try {
    // Data that has no place on the disk yet is missing from the map, so it is written first.
    await file.datasync()
    const { size } = await file.stat()
    const map = await writtenRanges(file, input)
    await erase(file, map ?? [{ start: 0, end: size }], {
      readFirst: map === undefined,
      signal: input.signal,
    })
  } finally {
    await file.close()
  }
}

/** Erases from the end to the beginning. So the file can be cut at the place that the erase has reached. */
async function erase(
  file: FileHandle,
  ranges: readonly ByteRange[],
  { readFirst, signal }: { readonly readFirst: boolean; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const zeros = Buffer.alloc(chunkBytes)
  const buffer = Buffer.alloc(readFirst ? chunkBytes : 0)
  let sinceStep = 0
  for (const { start, end } of ranges.toReversed()) {
    for (let upTo = end; upTo > start;) {
      signal?.throwIfAborted()
      const from = Math.max(start, upTo - chunkBytes)
      const nothing = zeros.subarray(0, upTo - from)
      if (!readFirst || !(await isAlready(file, { nothing, buffer, from })))
        await writeAll(file, nothing, from)
      sinceStep += upTo - from
      upTo = from
      if (sinceStep < stepBytes) continue
      sinceStep = 0
      await file.datasync()
      await file.truncate(from)
    }
  }
  await file.datasync()
  await file.truncate(0)
  await file.sync()
}

async function isAlready(
  file: FileHandle,
  { nothing, buffer, from }: { readonly nothing: Buffer; readonly buffer: Buffer; readonly from: number },
): Promise<boolean> {
  const { bytesRead } = await file.read(buffer, 0, nothing.length, from)
  return bytesRead === nothing.length && buffer.subarray(0, bytesRead).equals(nothing)
}

async function writeAll(file: FileHandle, buffer: Buffer, position: number): Promise<void> {
  for (let done = 0; done < buffer.length;) {
    const { bytesWritten } = await file.write(buffer, done, buffer.length - done, position + done)
    done += bytesWritten
  }
}

/**
 * Returns the ranges of the file that are not holes, in order. Undefined if the host's file system does not
 * tell them.
 */
async function writtenRanges(
  file: FileHandle,
  { uuid, signal }: { readonly uuid: string; readonly signal?: AbortSignal | undefined },
): Promise<readonly ByteRange[] | undefined> {
  const owner = volumeOwner(uuid)
  const { size } = await file.stat()
  const end = await runVolumeTool({
    command: ['filefrag', '-e', '-b4096', volumeInTool],
    descriptor: file.fd,
    ...(owner === undefined ? {} : { owner }),
    maxFileBytes: size,
    limitMs: mapLimitMs,
    maxOutputBytes: maxMapBytes,
    signal,
  })
  if (end.kind !== 'exit' || end.code !== 0 || end.cut) return undefined
  return parseExtents(end.output, size)
}

const mapBlockBytes = 4_096
const extentLine = /^\s*\d+:\s*(\d+)\.\.\s*(\d+):/

/** The extents in the output of `filefrag -e`. Undefined if the output has another form. */
export function parseExtents(output: string, size: number): readonly ByteRange[] | undefined {
  const ranges: ByteRange[] = []
  for (const line of output.split('\n')) {
    const [, first, last] = extentLine.exec(line) ?? []
    if (first === undefined || last === undefined) continue
    const start = Math.min(Number(first) * mapBlockBytes, size)
    const end = Math.min((Number(last) + 1) * mapBlockBytes, size)
    if (start < (ranges.at(-1)?.end ?? 0) || end < start) return undefined
    ranges.push({ start, end })
  }
  const told = /: (\d+) extents? found$/m.exec(output)?.[1]
  return told === undefined || (ranges.length === 0 && told !== '0') ? undefined : ranges
}
