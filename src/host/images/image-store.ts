import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import type { PreparedImage } from './images.ts'

/**
 * The directory of prepared images: `<digest>/image.json` beside the files that it names. An image's
 * directory appears in one step, complete and on disk. Everything unfinished is in `.tmp` and is deleted
 * when the store is opened. Empty files `held-by-<holder>` say who holds an image, and their times say when
 * that holder last asked for it; so this survives the agent.
 *
 * Only one process at a time may have the store open. The agent sees to that.
 */
export interface ImageStore {
  find(digest: string): Promise<PreparedImage | undefined>
  /**
   * Records that the holder asks for the image now. Returns false if it is not one of the image's holders.
   */
  touch(digest: string, holder: string): Promise<boolean>
  /** Makes the holder one of the image's holders. */
  hold(digest: string, holder: string): Promise<void>
  letGo(digest: string, holder: string): Promise<void>
  /** Makes an empty directory in which to make an image. The caller publishes or discards it. */
  begin(digest: string): Promise<string>
  /**
   * Makes the image in the directory of `begin` findable, held by `holder`. `image` names its files as they
   * are in the final directory (`fileOf`).
   */
  publish(begun: string, image: PreparedImage, holder: string): Promise<void>
  discard(begun: string): Promise<void>
  /** The path that a file of an image has once it is published. */
  fileOf(digest: string, name: string): string
  list(): Promise<readonly StoredImage[]>
  remove(digest: string): Promise<void>
}

export interface StoredImage {
  readonly digest: string
  readonly bytes: number
  readonly lastUsedMs: number
  /** The holders, with the time when each last asked for the image. */
  readonly holders: ReadonlyMap<string, number>
}

/** The holder of images from an official repository. All other holders are users, named by their UUIDs. */
export const officialHolder = 'official'
const heldBy = 'held-by-'

/** The record of an image in the store can not be read. It was complete when the image was published. */
export class DamagedImage extends Error {
  override readonly name = 'DamagedImage'
}

const temporary = '.tmp'
const metadataName = 'image.json'

export async function openImageStore(directory: string, nowMs: () => number): Promise<ImageStore> {
  const scratch = join(directory, temporary)
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { recursive: true })
  let begun = 0

  // The path of an image's directory. A digest has a colon, which QEMU and some file systems would read as
  // something else.
  const directoryOf = (digest: string) => join(directory, digest.replace(':', '-'))
  const fileOf = (digest: string, name: string) => join(directoryOf(digest), name)

  async function mark(path: string, holder: string): Promise<void> {
    const file = await open(join(path, `${heldBy}${holder}`), 'w', 0o644)
    try {
      const now = new Date(nowMs())
      await file.utimes(now, now)
    } finally {
      await file.close()
    }
  }

  async function moveAway(path: string): Promise<void> {
    const away = join(scratch, `removed-${begun++}`)
    await rename(path, away).catch(ignoreMissing)
    await rm(away, { recursive: true, force: true })
  }

  return {
    fileOf,
    async find(digest) {
      const file = fileOf(digest, metadataName)
      const text = await readFile(file, 'utf8').catch(ignoreMissing)
      if (text === undefined) return undefined
      return placed(imageIn(file, text), (path) => fileOf(digest, basename(path)))
    },
    async touch(digest, holder) {
      const now = new Date(nowMs())
      const touched = utimes(fileOf(digest, `${heldBy}${holder}`), now, now).then(() => true)
      return (await touched.catch(ignoreMissing)) ?? false
    },
    hold: (digest, holder) => mark(directoryOf(digest), holder),
    letGo: (digest, holder) => rm(fileOf(digest, `${heldBy}${holder}`), { force: true }),
    async begin(digest) {
      const path = join(scratch, `${digest.replace(':', '-')}-${begun++}`)
      await mkdir(path)
      return path
    },
    async publish(path, image, holder) {
      await mark(path, holder)
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
        // The store has this digest already, so it has the same image, and the new one is deleted.
        await rm(path, { recursive: true })
      })
      await syncDirectory(directory)
    },
    async discard(path) {
      // A process that was just killed may still have been making a file.
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    },
    async list() {
      const names = await readdir(directory)
      // An image may be removed while the list is read. It is then left out.
      const images = await Promise.all(names.map((name) => describe(directory, name).catch(ignoreMissing)))
      return images.filter((image) => image !== undefined)
    },
    remove: (digest) => moveAway(directoryOf(digest)),
  }
}

function imageIn(file: string, text: string): PreparedImage {
  const image = parseJson(text)
  if (isPrepared(image)) return image
  throw new DamagedImage(`${file} is damaged: delete the directory that it is in`)
}

function isPrepared(value: unknown): value is PreparedImage {
  if (!isJsonObject(value)) return false
  const { kind, rootfsPath, kernelPath } = value
  return typeof (kind === 'container' ? rootfsPath : kernelPath) === 'string'
}

/** Sets the image's paths. The directory may have been moved since they were written. */
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
  const holders = new Map<string, number>()
  for (const [index, file] of files.entries()) {
    if (file.startsWith(heldBy)) holders.set(file.slice(heldBy.length), stats[index]?.mtimeMs ?? 0)
  }
  // An image that an earlier version stored has no holder.
  const madeMs = stats[files.indexOf(metadataName)]?.mtimeMs ?? 0
  const bytes = stats.reduce((total, file) => total + file.blocks * 512, 0)
  return { digest: name.replace('-', ':'), bytes, lastUsedMs: Math.max(madeMs, ...holders.values()), holders }
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
