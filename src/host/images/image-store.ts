import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { PreparedImage } from './images.ts'

/**
 * The directory of prepared images: `<digest>/image.json` beside the files it names. A directory appears there in one
 * step, complete and on disk; everything unfinished lives in `.tmp` and is deleted when the store is opened. When an
 * image was last asked for is the time of its `image.json`, so that it survives the agent.
 *
 * One process at a time may have it open, which the agent sees to.
 */
export interface ImageStore {
  find(digest: string): Promise<PreparedImage | undefined>
  /** An empty directory to make an image in; to be published or discarded. */
  begin(digest: string): Promise<string>
  /** Makes what `begin` gave findable. `image` names its files within the final directory (`fileOf`). */
  publish(begun: string, image: PreparedImage): Promise<void>
  discard(begun: string): Promise<void>
  /** Where a file of an image is, once it is published. */
  fileOf(digest: string, name: string): string
  list(): Promise<readonly StoredImage[]>
  remove(digest: string): Promise<void>
}

export interface StoredImage {
  readonly digest: string
  readonly bytes: number
  readonly lastUsedMs: number
}

const temporary = '.tmp'
const metadataName = 'image.json'

export async function openImageStore(directory: string, nowMs: () => number): Promise<ImageStore> {
  const scratch = join(directory, temporary)
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { recursive: true })
  let begun = 0

  // Digests have a colon, which QEMU and some file systems take for something else.
  const directoryOf = (digest: string) => join(directory, digest.replace(':', '-'))
  const fileOf = (digest: string, name: string) => join(directoryOf(digest), name)

  async function moveAway(path: string): Promise<void> {
    const away = join(scratch, `removed-${begun++}`)
    await rename(path, away)
    await rm(away, { recursive: true, force: true })
  }

  return {
    fileOf,
    async find(digest) {
      const metadata = fileOf(digest, metadataName)
      const text = await readFile(metadata, 'utf8').catch(ignoreMissing)
      if (text === undefined) return undefined
      const now = new Date(nowMs())
      await utimes(metadata, now, now)
      return placed(JSON.parse(text), (path) => fileOf(digest, basename(path)))
    },
    async begin(digest) {
      const path = join(scratch, `${digest.replace(':', '-')}-${begun++}`)
      await mkdir(path)
      return path
    },
    async publish(path, image) {
      const metadata = await open(join(path, metadataName), 'wx', 0o644)
      try {
        await metadata.writeFile(`${JSON.stringify(image, undefined, 2)}\n`)
        await metadata.sync()
        const now = new Date(nowMs())
        await metadata.utimes(now, now)
      } finally {
        await metadata.close()
      }
      await rename(path, directoryOf(image.digest)).catch(async (error: unknown) => {
        if (!isErrno(error, 'ENOTEMPTY') && !isErrno(error, 'EEXIST')) throw error
        // The same digest is there already, so it is the same image.
        await rm(path, { recursive: true })
      })
      await syncDirectory(directory)
    },
    async discard(path) {
      // Somebody who was just killed may still have been making a file.
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    },
    async list() {
      const names = await readdir(directory)
      const images = await Promise.all(names.map((name) => describe(directory, name)))
      return images.filter((image) => image !== undefined)
    },
    remove: (digest) => moveAway(directoryOf(digest)),
  }
}

/** The directory may have been moved since the paths were written. */
function placed(image: PreparedImage, place: (path: string) => string): PreparedImage {
  if (image.kind === 'container') return { ...image, rootfsPath: place(image.rootfsPath) }
  const initrd = image.initrdPath === undefined ? {} : { initrdPath: place(image.initrdPath) }
  return { ...image, kernelPath: place(image.kernelPath), ...initrd }
}

async function describe(directory: string, name: string): Promise<StoredImage | undefined> {
  if (!name.startsWith('sha256-')) return undefined
  const path = join(directory, name)
  const files = await readdir(path)
  const stats = await Promise.all(files.map((file) => stat(join(path, file))))
  const metadata = stats[files.indexOf(metadataName)]
  const bytes = stats.reduce((total, file) => total + file.blocks * 512, 0)
  return { digest: name.replace('-', ':'), bytes, lastUsedMs: metadata?.mtimeMs ?? 0 }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
