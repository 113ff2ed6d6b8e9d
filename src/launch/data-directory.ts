import path from 'node:path'
import { lockDirectory } from '../primitives/directory-lock.ts'
import type { DirectoryLock } from '../primitives/directory-lock.ts'

/** Makes this process the only stack of a data directory, or throws `DirectoryInUse`. */
export function lockDataDirectory(directory: string): DirectoryLock {
  return lockDirectory(directory, {
    holder: 'stack',
    advice: 'stop it, or set ROOST_DATA_DIR (and ROOST_API_PORT, ROOST_TEMPORAL_UI_PORT) for a second one',
  })
}

/** What a worker on a machine that joined keeps. Only the worker's user may enter it. */
export function workerDirectory(dataDir: string): string {
  return path.join(dataDir, 'worker')
}
