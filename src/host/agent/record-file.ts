import { open, rename, writeFile } from 'node:fs/promises'

/** What the kernel writes as a whole: whoever reads after a crash finds the text before or the one after. */
const pageBytes = 4_096

/**
 * Replaces the text of a file as a whole; `durable`: so that it outlives the machine's death. On a disk
 * without room a text that has its place already is written over: what ends or is deleted there has to be
 * written down too, or nothing could make room.
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
 * In one write within one page, filled up with blanks where the text before was longer. False: it has no such
 * place.
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
    // A file system that never writes anything in its place has no room for this either.
    if (isFull(error)) return false
    throw error
  } finally {
    await file.close()
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}
