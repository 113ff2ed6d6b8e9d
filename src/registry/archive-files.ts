import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import type { Readable } from 'node:stream'
import { extract } from 'tar-stream'

/** The files of an image that was saved to disk, as a directory or within one archive. */
export interface ArchiveFiles {
  /** Returns the size of a file in bytes, or undefined if there is no such file. */
  size(name: string): Promise<number | undefined>
  stream(name: string): Readable
}

/** Opens a directory or an uncompressed tar archive. Throws if it is neither. */
export async function openArchiveFiles(path: string): Promise<ArchiveFiles> {
  const found = await stat(path)
  return found.isDirectory() ? directoryFiles(path) : await tarFiles(path)
}

function directoryFiles(directory: string): ArchiveFiles {
  const pathOf = (name: string) => join(directory, normalize(join('/', name)))
  return {
    async size(name) {
      const found = await stat(pathOf(name)).catch(() => undefined)
      return found?.isFile() === true ? found.size : undefined
    },
    stream: (name) => createReadStream(pathOf(name)),
  }
}

interface Member {
  readonly start: number
  readonly size: number
}

async function tarFiles(path: string): Promise<ArchiveFiles> {
  if (await isGzip(path)) throw new Error(`${path} is compressed: decompress it first, with gunzip`)
  const members = await indexOf(path)
  const member = (name: string) => members.get(normalize(name))
  return {
    size: async (name) => member(name)?.size,
    stream(name) {
      const { start, size } = member(name) ?? { start: 0, size: 0 }
      // `end` is inclusive. For an empty member `end` is less than `start`, which Node refuses.
      return createReadStream(path, { start, end: start + size - 1 })
    },
  }
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return buffer.toString('hex', 0, bytesRead) === '1f8b'
  } finally {
    await file.close()
  }
}

/** The size of a member's header. The reader gives the offset of the header; the content follows it. */
const tarHeaderBytes = 512

/**
 * Finds where each file's content is in the archive. Old archives of Docker name a repeated layer by a link.
 */
async function indexOf(path: string): Promise<ReadonlyMap<string, Member>> {
  const members = new Map<string, Member>()
  const reader = extract()
  reader.on('entry', (header, content, next) => {
    const name = normalize(header.name)
    if (header.type === 'file')
      members.set(name, { start: content.offset + tarHeaderBytes, size: header.size })
    if (header.type === 'symlink') {
      const target = members.get(normalize(join(name, '..', header.linkname)))
      if (target) members.set(name, target)
    }
    content.on('end', () => next(null))
    content.resume()
  })
  await new Promise<void>((resolve, reject) => {
    reader.on('finish', () => resolve())
    reader.on('error', reject)
    feed(reader, createReadStream(path)).catch(reject)
  })
  return members
}

async function feed(reader: ReturnType<typeof extract>, chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) {
    if (!reader.write(chunk)) await new Promise<void>((resolve) => reader.once('drain', () => resolve()))
  }
  reader.end(undefined)
}
