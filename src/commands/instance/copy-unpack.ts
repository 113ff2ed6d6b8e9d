/**
 * Writes an archive that an instance sends to this machine. The instance is not trusted: whatever it sends,
 * nothing is written outside of the target, and no link that it sends is ever followed. An entry is only
 * taken if it is in a directory that came just before it, and that is a real directory here.
 */
import { randomUUID } from 'node:crypto'
import {
  lstat,
  mkdir,
  open,
  realpath,
  rename,
  stat,
  symlink,
  unlink,
  chmod,
  chown,
  lchown,
  lutimes,
  utimes,
} from 'node:fs/promises'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import type { Header } from 'tar-stream'
import { visibleText } from '../../domain/plain-text.ts'
import { CommandFailure } from '../command-failure.ts'
import { copyName } from './copy-place.ts'

/** As deep as the guest packs. */
const maxDepth = 256
/** Only the rights of files are kept, and not setuid, setgid and the sticky bit. */
const rights = 0o777

export interface UnpackTarget {
  /** The path in the instance. It gives the copy its name. */
  readonly from: string
  readonly to: string
  /** Keep the numbers of the owners. Only root can. */
  readonly owners: boolean
}

/** Throws `CommandFailure` at the first entry that can not be written. What was written before stays. */
export async function unpackArchive(archive: Readable, target: UnpackTarget): Promise<void> {
  // The streams of this library are like those of Node, and have types of their own.
  const entries = extract() as unknown as Writable & AsyncIterable<Entry>
  const reading = pipeline(archive, entries)
  // If writing fails, that is the reason, and the reading only ends with it.
  reading.catch(() => undefined)
  const unpacker = new Unpacker(target)
  try {
    for await (const entry of entries) {
      await unpacker.take(entry)
      entry.resume()
    }
    await reading
    await unpacker.finish()
  } catch (cause) {
    throw cause instanceof CommandFailure ? cause : new CommandFailure(reasonOf(cause), { cause })
  }
}

interface Entry extends Readable {
  readonly header: Header
}

/** A directory whose entries are coming. Its rights and its time are set when all of them are there. */
interface OpenDirectory {
  readonly name: string
  readonly header: Header
}

class Unpacker {
  readonly #target: UnpackTarget
  /** Where the first entry goes, and what the instance calls it. */
  #root: string | undefined
  #rootName = ''
  /** The directories that lead to the last entry. */
  readonly #open: OpenDirectory[] = []
  #keepsRoot = false

  constructor(target: UnpackTarget) {
    this.#target = target
  }

  async take(entry: Entry): Promise<void> {
    const { header } = entry
    try {
      this.#root ??= await this.#chooseRoot(header)
      const parts = this.#partsOf(header.name)
      await this.#leave(parts)
      const place = path.join(this.#root, ...parts)
      if (header.type === 'directory') await this.#takeDirectory(place, parts, header)
      else if (header.type === 'file') await this.#takeFile(place, entry)
      else if (header.type === 'symlink') await this.#takeLink(place, header)
      else throw new CommandFailure('it is of a kind that is not copied')
    } catch (cause) {
      throw new CommandFailure(`${visibleText(header.name)}: ${reasonOf(cause)}`, { cause })
    }
  }

  async finish(): Promise<void> {
    while (this.#open.length > 0) await this.#closeDirectory()
  }

  /** As `cp -r` does: into a directory that is there, else by the name of the target. */
  async #chooseRoot({ name, type }: Header): Promise<string> {
    const { from, to } = this.#target
    this.#rootName = name.replace(/\/+$/, '')
    const known = await stat(to).catch(unlessMissing)
    if (known?.isDirectory() === true) {
      const own = copyName(from)
      this.#keepsRoot = own === undefined
      return own === undefined ? to : path.join(to, own)
    }
    if (type === 'directory' && known !== undefined) throw new CommandFailure(`${to} is a file`)
    if (type !== 'directory' && to.endsWith('/')) throw new CommandFailure(`there is no directory ${to}`)
    return known === undefined ? to : await realpath(to)
  }

  /** The parts of a name below the root. Throws unless they are plain names in directories that are open. */
  #partsOf(name: string): readonly string[] {
    const clean = name.replace(/\/+$/, '')
    if (clean === this.#rootName && this.#open.length === 0) return []
    if (!clean.startsWith(`${this.#rootName}/`))
      throw new CommandFailure('it is outside of what was asked for')
    const parts = clean.slice(this.#rootName.length + 1).split('/')
    if (parts.some((part) => ['', '.', '..'].includes(part) || path.basename(part) !== part))
      throw new CommandFailure('it is outside of what was asked for')
    if (parts.some((part) => part.includes('\0') || part.includes('\uFFFD')))
      throw new CommandFailure('its name is not UTF-8; copy to - and unpack that with tar')
    if (parts.length > maxDepth)
      throw new CommandFailure(`it is more than ${String(maxDepth)} directories deep`)
    return parts
  }

  /** Completes the directories in which the next entry is not. The first one is the root. */
  async #leave(parts: readonly string[]): Promise<void> {
    const isAbove = (index: number) =>
      this.#open.slice(1, index + 1).every(({ name }, at) => name === parts[at])
    while (this.#open.length > parts.length || (this.#open.length > 0 && !isAbove(this.#open.length - 1)))
      await this.#closeDirectory()
    if (this.#open.length < parts.length)
      throw new CommandFailure('the directory that it is in did not come before')
  }

  async #takeDirectory(place: string, parts: readonly string[], header: Header): Promise<void> {
    try {
      await mkdir(place, 0o700)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      // The directory that a person has named may be a link to one.
      const found = parts.length === 0 && this.#keepsRoot ? await stat(place) : await lstat(place)
      if (found.isSymbolicLink())
        throw new CommandFailure(`${place} is a symbolic link, and nothing is written through it`)
      if (!found.isDirectory()) throw new CommandFailure(`${place} is there already, and is no directory`)
    }
    this.#open.push({ name: parts.at(-1) ?? '', header })
  }

  async #closeDirectory(): Promise<void> {
    const names = this.#open.slice(1).map(({ name }) => name)
    const top = this.#open.pop()
    if (top === undefined || this.#root === undefined) return
    // A directory that was there before and only gets something into it stays as it is.
    if (names.length === 0 && this.#keepsRoot) return
    const place = path.join(this.#root, ...names)
    const { mode, mtime, uid, gid } = top.header
    if (this.#keepsOwners) await chown(place, uid, gid)
    await chmod(place, mode & rights)
    await utimes(place, new Date(), timeOf(mtime))
  }

  /** The file gets its name when it is complete, so nobody finds half a file. */
  async #takeFile(place: string, entry: Entry): Promise<void> {
    const { mode, mtime, uid, gid } = entry.header
    await requireReplaceable(place)
    const draft = path.join(path.dirname(place), `.roost-copy-${randomUUID()}`)
    // `x` makes a new file, so no link is followed.
    const file = await open(draft, 'wx', 0o600).catch((cause: unknown) => {
      // Nobody knows the other name.
      throw new CommandFailure(reasonOf(cause).replace(draft, place), { cause })
    })
    try {
      await file.writeFile(entry)
      if (this.#keepsOwners) await file.chown(uid, gid)
      await file.chmod(mode & rights)
      await file.utimes(new Date(), timeOf(mtime))
      await rename(draft, place)
    } catch (error) {
      await unlink(draft).catch(unlessMissing)
      throw error
    } finally {
      await file.close()
    }
  }

  async #takeLink(place: string, { linkname, mtime, uid, gid }: Header): Promise<void> {
    await requireReplaceable(place)
    await unlink(place).catch(unlessMissing)
    await symlink(linkname, place)
    if (this.#keepsOwners) await lchown(place, uid, gid)
    await lutimes(place, new Date(), timeOf(mtime))
  }

  get #keepsOwners(): boolean {
    return this.#target.owners && process.geteuid?.() === 0
  }
}

/** Throws if something other than a file or a link has this name. */
async function requireReplaceable(place: string): Promise<void> {
  const found = await lstat(place).catch(unlessMissing)
  if (found === undefined || found.isFile() || found.isSymbolicLink()) return
  const kind = found.isDirectory() ? 'directory' : 'device, pipe or socket'
  throw new CommandFailure(`${place} is there already, and is a ${kind}`)
}

/** A time that is none becomes now. */
function timeOf(time: Date): Date {
  return Number.isNaN(time.getTime()) ? new Date() : time
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
  return undefined
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
