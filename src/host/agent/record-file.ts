import { open, rename, writeFile } from 'node:fs/promises'

/**
 * The kernel writes one page as a whole: a reader after a crash finds either the old text or the new one.
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
    await writeFile(`${path}.tmp`, text, { flush: durable })
  } catch (error) {
    if (!isFull(error) || !(await overwrite(path, text, { durable }))) throw error
    return
  }
  await rename(`${path}.tmp`, path)
}

/**
 * Writes over the file in one write within one page, and fills up with blanks where the old text was longer.
 * Returns false if there is no such file, if the texts do not fit into one page, or if even this finds no
 * room.
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
    // A file system that never writes data in place (copy on write) has no room for this either.
    if (isFull(error)) return false
    throw error
  } finally {
    await file.close()
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}
