import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { exists } from './command.mjs'

/**
 * Makes `directory` if it does not exist. `make` fills a directory beside it, which is then renamed. An
 * interrupted run leaves only a directory that nobody reads.
 */
export async function directoryOnce(directory, make) {
  if (await exists(directory)) return directory
  await mkdir(path.dirname(directory), { recursive: true })
  const unfinished = await mkdtemp(`${directory}.tmp-`)
  try {
    await make(unfinished)
    // So far only its maker may read it, but parts of the stack run as other users.
    await chmod(unfinished, 0o755)
    await rename(unfinished, directory)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return directory
}
