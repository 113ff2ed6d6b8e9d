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

/**
 * The archive within a layer's blob. The compression is told from the first bytes, because media types are often wrong
 * about it. Throws LayerError as soon as more comes out than the limits allow.
 */
export async function* readLayer(
  blob: LayerBlob,
  limits: ImageLimits,
  total: UnpackedTotal = { bytes: 0 },
): AsyncGenerator<Buffer> {
  const fullest = Math.max(limits.ratioFreeBytes, blob.size * limits.maxCompressionRatio)
  let unpacked = 0
  for await (const chunk of decompressed(blob)) {
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
  const decompressor = await decompressorFor(blob.path)
  const source = createReadStream(blob.path, { highWaterMark: chunkBytes })
  const chunks: AsyncIterable<Buffer> = decompressor
    ? pipeline(source, decompressor, () => {
        // An error surfaces in the loop below.
      })
    : source
  try {
    for await (const chunk of chunks) yield chunk
  } catch (error) {
    if (error instanceof Error && isCompressionError(error)) {
      throw new LayerError('the layer is damaged: it can not be decompressed', { cause: error })
    }
    throw error
  } finally {
    source.destroy()
  }
}

function isCompressionError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && /^(?:Z_|ZSTD_|ERR_ZLIB)/.test(error.code)
}

async function decompressorFor(path: string): Promise<Transform | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    const magic = buffer.toString('hex', 0, bytesRead)
    if (magic.startsWith('1f8b')) return createGunzip({ chunkSize: chunkBytes })
    return magic === '28b52ffd' ? createZstdDecompress({ chunkSize: chunkBytes }) : undefined
  } finally {
    await file.close()
  }
}
