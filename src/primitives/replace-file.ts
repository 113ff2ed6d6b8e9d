import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

export interface ReplaceOptions {
  /** The file's permissions. Absent: those of any new file of this process. */
  readonly mode?: number
  /** The file's owner. Absent: this process. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Whether the new content survives a crash of the machine. Absent: it may be the old content then. */
  readonly durable?: boolean
  /** Whether several processes may replace the file at the same time. The last one wins then. */
  readonly isShared?: boolean
}

/**
 * Replaces the content of a file as a whole, or makes the file. Whoever reads it finds the old content or the
 * new one, and never a part of it. The new content is first in a file of its own beside it, which nobody may
 * read that may not read the file. If this rejects, the file is as it was.
 *
 * Without `isShared` no two calls for one file may overlap. What a process leaves that ends in between is
 * overwritten by the next call.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, owner, durable = false, isShared = false }: ReplaceOptions = {},
): Promise<void> {
  const unfinished = isShared ? `${file}.${randomUUID()}.new` : `${file}.new`
  try {
    const handle = await open(unfinished, 'w', mode)
    try {
      // The file may be there already, with other permissions.
      if (mode !== undefined) await handle.chmod(mode)
      await handle.writeFile(content)
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
      if (durable) await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
}
