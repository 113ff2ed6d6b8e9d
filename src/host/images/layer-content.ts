import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream'
import { createGunzip, createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import { LayerError } from './tar-entry.ts'
import type { UnpackBudget } from './unpack-budget.ts'
import { zstdFrameAt } from './zstd-frames.ts'

/** A layer's blob as it was pulled and verified. */
export interface LayerBlob {
  readonly path: string
  readonly size: number
}

const chunkBytes = 256 * 1024
/** The most bytes of a frame's content that are decompressed in one call. */
const smallContentBytes = 1024 * 1024

/**
 * The archive in a layer's blob. The compression is found from the first bytes, because media types are
 * often wrong about it. Throws LayerError as soon as a bound of the budget is passed.
 */
export async function* readLayer(blob: LayerBlob, budget: UnpackBudget): AsyncGenerator<Buffer> {
  budget.beginLayer(blob.size)
  const file = await open(blob.path)
  try {
    for await (const chunk of decompressed(file, blob.size, budget)) {
      budget.countUnpacked(chunk.length)
      yield chunk
    }
  } catch (error) {
    if (error instanceof Error && isCompressionError(error)) {
      throw new LayerError('the layer is damaged: it can not be decompressed', { cause: error })
    }
    throw error
  } finally {
    await file.close()
  }
}

async function* decompressed(file: FileHandle, size: number, budget: UnpackBudget): AsyncGenerator<Buffer> {
  const compression = await compressionOf(file)
  if (compression === 'gzip') {
    yield* through(createGunzip({ chunkSize: chunkBytes }), counted(chunksOf(file, 0), budget))
  } else if (compression === 'zstd') yield* zstdFrames(file, size, budget)
  else yield* chunksOf(file, 0)
}

/**
 * Layers often consist of several frames. Node's decompressor stops after one, so each frame gets its own.
 */
async function* zstdFrames(file: FileHandle, size: number, budget: UnpackBudget): AsyncGenerator<Buffer> {
  let ahead: Buffer = Buffer.alloc(0)
  for (let offset = 0; offset < size;) {
    budget.countFrame()
    // The bytes that were already read are used first: a read for each frame would cost more than the frame.
    let frame = zstdFrameAt(ahead)
    if (frame.kind === 'longer' && ahead.length < chunkBytes) {
      ahead = await bytesAt(file, offset, chunkBytes)
      frame = zstdFrameAt(ahead)
    }
    if (frame.kind === 'damaged') throw new LayerError('the layer is damaged: a zstd frame can not be read')
    let bytes = frame.kind === 'longer' ? 0 : frame.bytes
    if (frame.kind === 'content') yield* contentOf(ahead.subarray(0, bytes))
    if (frame.kind === 'longer') {
      const decompressor = createZstdDecompress({ chunkSize: chunkBytes })
      yield* through(decompressor, timed(chunksOf(file, offset), budget))
      bytes = decompressor.bytesWritten
      if (bytes === 0) throw new LayerError('the layer is damaged: it ends in the middle of a zstd frame')
    }
    budget.countRead(bytes)
    offset += bytes
    ahead = ahead.subarray(bytes)
  }
}

async function* contentOf(frame: Buffer): AsyncGenerator<Buffer> {
  const content = smallContent(frame)
  if (content === undefined) yield* through(createZstdDecompress({ chunkSize: chunkBytes }), [frame])
  else if (content.length > 0) yield content
}

/** Returns the content of a frame, or undefined if it is larger than `smallContentBytes`. */
function smallContent(frame: Buffer): Buffer | undefined {
  try {
    return zstdDecompressSync(frame, { maxOutputLength: smallContentBytes })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

async function* through(
  decompressor: Transform,
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = pipeline(source, decompressor, () => {
    // An error here is ignored, because the loop below throws it.
  })
  for await (const chunk of chunks) yield chunk
}

/**
 * Counts the chunks before they are decompressed. After the decompressor they can not be counted, because a
 * frame without content gives no chunk there.
 */
async function* counted(chunks: AsyncIterable<Buffer>, budget: UnpackBudget): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    budget.countRead(chunk.length)
    yield chunk
  }
}

/**
 * Checks the time but counts no bytes: it is not known yet where the frame ends, and the chunk may reach
 * beyond its end.
 */
async function* timed(chunks: AsyncIterable<Buffer>, budget: UnpackBudget): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    budget.checkTime()
    yield chunk
  }
}

async function* chunksOf(file: FileHandle, offset: number): AsyncGenerator<Buffer> {
  for (let at = offset; ;) {
    const chunk = await bytesAt(file, at, chunkBytes)
    if (chunk.length === 0) return
    at += chunk.length
    yield chunk
  }
}

async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, offset)
  return buffer.subarray(0, bytesRead)
}

function isCompressionError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && /^(?:Z_|ZSTD_|ERR_ZLIB)/.test(error.code)
}

async function compressionOf(file: FileHandle): Promise<'gzip' | 'zstd' | undefined> {
  const magic = (await bytesAt(file, 0, 4)).toString('hex')
  if (magic.startsWith('1f8b')) return 'gzip'
  return magic === '28b52ffd' ? 'zstd' : undefined
}
