import { open } from 'node:fs/promises'
import { replaceFile } from '../../primitives/replace-file.ts'

/**
 * The size up to which a record is written over in place. The kernel writes one page as a whole: a reader
 * after a crash finds either the old text or the new one.
 */
const pageBytes = 4_096

/**
 * Replaces the text of a file as a whole. With `durable` the new text survives a crash of the machine. On a
 * full disk the new text is written over the old one, which needs no further room: the end and the removal
 * of an instance have to be recorded even then, or nothing could make room.
 */
export async function replaceText(
  path: string,
  text: string,
  { durable }: { readonly durable: boolean },
): Promise<void> {
  try {
    await replaceFile(path, text, { durable })
  } catch (error) {
    if (!isFull(error) || !(await overwrite(path, text, { durable }))) throw error
  }
}

/**
 * Overwrites the file with one write within one page. If the old text was longer, blanks fill the rest.
 * Returns false if the file does not exist, if one of the texts does not fit into one page, or if the disk
 * has no room even for this.
 */
async function overwrite(
  path: string,
  text: string,
  { durable }: { readonly durable: boolean },
): Promise<boolean> {
  const file = await open(path, 'r+').catch(() => undefined)
  if (file === undefined) return false
  try {
    const { size } = await file.stat()
    const bytes = Buffer.alloc(Math.max(size, Buffer.byteLength(text)), ' ')
    if (bytes.length > pageBytes) return false
    bytes.write(text)
    await file.write(bytes, 0, bytes.length, 0)
    if (durable) await file.datasync()
    return true
  } catch (error) {
    // On a file system that never overwrites data in place (copy on write), this write needs room too, and
    // the disk has none.
    if (isFull(error)) return false
    throw error
  } finally {
    await file.close()
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}
