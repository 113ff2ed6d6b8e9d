import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { PreparedImage } from './images.ts'

/**
 * The directory of prepared images: `<digest>/image.json` beside the files it names. A directory appears
 * there in one step, complete and on disk; everything unfinished lives in `.tmp` and is deleted when the
 * store is opened. Who holds an image is told by empty files `held-by-<holder>`, and by their times when the
 * holder last asked for it: so that survives the agent.
 *
 * One process at a time may have it open, which the agent sees to.
 */
export interface ImageStore {
  find(digest: string): Promise<PreparedImage | undefined>
  /** The holder has asked for the image now; false where it is not one of its holders. */
  touch(digest: string, holder: string): Promise<boolean>
  /** The holder becomes one of the image's. */
  hold(digest: string, holder: string): Promise<void>
  letGo(digest: string, holder: string): Promise<void>
  /** An empty directory to make an image in; to be published or discarded. */
  begin(digest: string): Promise<string>
  /**
   * Makes what `begin` gave findable, held by `holder`. `image` names its files within the final directory
   * (`fileOf`).
   */
  publish(begun: string, image: PreparedImage, holder: string): Promise<void>
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
  /** With the time when each last asked for it. */
  readonly holders: ReadonlyMap<string, number>
}

/** Holds what comes from an official repository. All others who hold something are users, by their UUIDs. */
export const officialHolder = 'official'
const heldBy = 'held-by-'

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
      const text = await readFile(fileOf(digest, metadataName), 'utf8').catch(ignoreMissing)
      if (text === undefined) return undefined
      return placed(JSON.parse(text), (path) => fileOf(digest, basename(path)))
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
      // Any may be removed meanwhile.
      const images = await Promise.all(names.map((name) => describe(directory, name).catch(ignoreMissing)))
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
  const holders = new Map<string, number>()
  for (const [index, file] of files.entries()) {
    if (file.startsWith(heldBy)) holders.set(file.slice(heldBy.length), stats[index]?.mtimeMs ?? 0)
  }
  // What an earlier version has stored is held by nobody.
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
