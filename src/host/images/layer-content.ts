import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import type { ImageLimits } from './image-limits.ts'
import { LayerError } from './tar-entry.ts'

/** A layer's blob as it was pulled and verified. */
export interface LayerBlob {
  readonly path: string
  readonly size: number
}

/** Counts what the layers of one image unpack to. */
export interface UnpackedTotal {
  bytes: number
}

const chunkBytes = 256 * 1024

export interface LayerReading {
  /** Counted on. */
  readonly total?: UnpackedTotal
  readonly signal?: AbortSignal
}

/**
 * The archive within a layer's blob. The compression is told from the first bytes, because media types are often wrong
 * about it. Throws LayerError as soon as more comes out than the limits allow.
 */
export async function* readLayer(
  blob: LayerBlob,
  limits: ImageLimits,
  { total = { bytes: 0 }, signal }: LayerReading = {},
): AsyncGenerator<Buffer> {
  const fullest = Math.max(limits.ratioFreeBytes, blob.size * limits.maxCompressionRatio)
  let unpacked = 0
  for await (const chunk of decompressed(blob)) {
    signal?.throwIfAborted()
    unpacked += chunk.length
    total.bytes += chunk.length
    if (unpacked > fullest) {
      throw new LayerError(`a layer unpacks to more than ${limits.maxCompressionRatio} times its size`)
    }
    if (total.bytes > limits.maxUnpackedBytes) {
      throw new LayerError(`the image unpacks to more than ${limits.maxUnpackedBytes} bytes`)
    }
    yield chunk
  }
}

async function* decompressed(blob: LayerBlob): AsyncGenerator<Buffer> {
  const compression = await compressionOf(blob.path)
  try {
    if (compression === 'gzip') yield* through(createGunzip({ chunkSize: chunkBytes }), blob.path, 0)
    else if (compression === 'zstd') yield* zstdFrames(blob)
    else yield* createReadStream(blob.path, { highWaterMark: chunkBytes })
  } catch (error) {
    if (error instanceof Error && isCompressionError(error)) {
      throw new LayerError('the layer is damaged: it can not be decompressed', { cause: error })
    }
    throw error
  }
}

/** Layers often consist of several frames. Node's decompressor stops behind one, so each gets its own. */
async function* zstdFrames(blob: LayerBlob): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < blob.size;) {
    const decompressor = createZstdDecompress({ chunkSize: chunkBytes })
    yield* through(decompressor, blob.path, offset)
    if (decompressor.bytesWritten === 0) throw new LayerError('the layer is damaged: it has an empty frame')
    offset += decompressor.bytesWritten
  }
}

async function* through(decompressor: Transform, path: string, start: number): AsyncGenerator<Buffer> {
  const source = createReadStream(path, { highWaterMark: chunkBytes, start })
  const chunks: AsyncIterable<Buffer> = pipeline(source, decompressor, () => {
    // An error surfaces in the loop below.
  })
  try {
    for await (const chunk of chunks) yield chunk
  } finally {
    source.destroy()
  }
}

function isCompressionError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && /^(?:Z_|ZSTD_|ERR_ZLIB)/.test(error.code)
}

async function compressionOf(path: string): Promise<'gzip' | 'zstd' | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    const magic = buffer.toString('hex', 0, bytesRead)
    if (magic.startsWith('1f8b')) return 'gzip'
    return magic === '28b52ffd' ? 'zstd' : undefined
  } finally {
    await file.close()
  }
}
