/** Packs files of this machine into an archive for an instance. */
import { once } from 'node:events'
import { constants } from 'node:fs'
import { lstat, open, opendir, readlink, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import type { Header, Pack } from 'tar-stream'
import { visibleText } from '../../domain/plain-text.ts'
import { copyName } from './copy-place.ts'

/** As deep as the guest unpacks. */
const maxDepth = 256
/** The largest number of an owner in the header of an archive, as it is written here. */
const maxShortOwner = 0o777777
type EntryHeader = Partial<Header> & Pick<Header, 'name'>

const zeros = Buffer.alloc(64 * 1024)

export interface PackedFiles {
  readonly archive: Readable
  /** Resolves with whether everything was packed. Files that can not be read are noted and left out. */
  readonly complete: Promise<boolean>
}

/** The path must be there. With `follow`, a symbolic link at its end is followed. */
export function packFiles(
  source: string,
  { follow, note }: { readonly follow: boolean; readonly note: (text: string) => void },
): PackedFiles {
  const packing = pack()
  const archive = new PassThrough()
  const packer = new Packer({ packing, archive, note })
  // The streams of this library are like those of Node, and have types of their own.
  const sent = pipeline(packing as unknown as Readable, archive)
  const complete = packer.pack(source, follow).then(
    async (whole) => {
      packing.finalize()
      await sent
      return whole
    },
    (error: unknown) => {
      packing.destroy()
      throw error
    },
  )
  sent.catch(() => undefined)
  // The end of the reader ends the packing. Whoever waits for `complete` hears of it.
  complete.catch(() => undefined)
  return { archive, complete }
}

interface PackerOptions {
  readonly packing: Pack
  readonly archive: PassThrough
  readonly note: (text: string) => void
}

class Packer {
  readonly #packing: Pack
  readonly #archive: PassThrough
  readonly #note: (text: string) => void
  #isWhole = true

  constructor({ packing, archive, note }: PackerOptions) {
    this.#packing = packing
    this.#archive = archive
    this.#note = note
  }

  async pack(source: string, follow: boolean): Promise<boolean> {
    // A path that ends with a slash stands for what a link there leads to.
    const found = follow || source.endsWith('/') ? await stat(source) : await lstat(source)
    await this.#add(source, copyName(source) ?? '.', found, 0)
    return this.#isWhole
  }

  async #add(file: string, name: string, found: Stats, depth: number): Promise<void> {
    try {
      if (name.includes('\uFFFD')) this.#miss(file, 'its name is not UTF-8')
      else if (found.isFile()) await this.#addFile(file, name)
      else if (found.isDirectory()) await this.#addDirectory(file, name, found, depth)
      else if (found.isSymbolicLink())
        await this.#entry({ ...headerOf(name, found), type: 'symlink', linkname: await readlink(file) })
      else this.#note(`roost: ${visibleText(file)}: a device, socket or pipe is left out\n`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
      this.#miss(file, (error as Error).message)
    }
  }

  async #addDirectory(file: string, name: string, found: Stats, depth: number): Promise<void> {
    if (depth >= maxDepth) return this.#miss(file, `it is more than ${String(maxDepth)} directories deep`)
    const members = await opendir(file)
    await this.#entry({ ...headerOf(name, found), name: `${name}/`, type: 'directory' })
    for await (const { name: own } of members) {
      const member = path.join(file, own)
      const known = await lstat(member).catch((error: unknown) =>
        this.#miss(member, (error as Error).message),
      )
      if (known !== undefined) await this.#add(member, `${name}/${own}`, known, depth + 1)
    }
  }

  async #addFile(file: string, name: string): Promise<void> {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const found = await handle.stat()
      const { size } = found
      const content = Readable.from(
        contentOf(handle, size, () => this.#miss(file, 'it became shorter meanwhile')),
      )
      const header: EntryHeader = { ...headerOf(name, found), type: 'file', size }
      const done = Promise.withResolvers<void>()
      const entry = this.#packing.entry(header, (error) => (error ? done.reject(error) : done.resolve()))
      await Promise.all([pipeline(content, entry as unknown as Writable), done.promise])
    } finally {
      await handle.close()
    }
  }

  async #entry(header: EntryHeader): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#packing.entry(header, (error) => (error ? reject(error) : resolve()))
    })
    // Entries without content do not wait for the reader by themselves.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#archive.writableNeedDrain) await once(this.#archive, 'drain')
  }

  #miss(file: string, why: string): undefined {
    this.#isWhole = false
    this.#note(`roost: ${visibleText(file)}: ${visibleText(why)}\n`)
    return undefined
  }
}

/** Exactly `size` bytes: what a file grows by is left out, and what it lacks is zeros. */
async function* contentOf(handle: FileHandle, size: number, missed: () => void): AsyncGenerator<Buffer> {
  let left = size
  while (left > 0) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(left, zeros.length)))
    if (bytesRead === 0) break
    left -= bytesRead
    yield buffer.subarray(0, bytesRead)
  }
  if (left > 0) missed()
  for (; left > 0; left -= Math.min(left, zeros.length)) yield zeros.subarray(0, Math.min(left, zeros.length))
}

function headerOf(name: string, { mode, mtime, uid, gid }: Stats): EntryHeader {
  const long = {
    ...(uid > maxShortOwner && { uid: String(uid) }),
    ...(gid > maxShortOwner && { gid: String(gid) }),
  }
  return {
    name,
    mode: mode & 0o7777,
    mtime,
    uid,
    gid,
    ...(Object.keys(long).length > 0 && { pax: long }),
  }
}
