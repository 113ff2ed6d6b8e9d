import path from 'node:path'
import { findHolder, lockDirectory } from '../primitives/directory-lock.ts'
import type { DirectoryLock } from '../primitives/directory-lock.ts'
import { identify } from './parts/process-identity.ts'
import type { ProcessIdentity } from './parts/process-identity.ts'

const holder = 'stack'

/** Makes this process the only stack of a data directory, or throws `DirectoryInUse`. */
export function lockDataDirectory(directory: string): DirectoryLock {
  return lockDirectory(directory, {
    holder,
    advice: 'stop it, or set ROOST_DATA_DIR (and ROOST_API_PORT, ROOST_TEMPORAL_UI_PORT) for a second one',
  })
}

/**
 * The main process of the stack, or of the host that joined, which has this data directory. Throws
 * `HolderHidden`.
 */
export function findPlatform(directory: string): ProcessIdentity | undefined {
  const before = findHolder(directory, holder)
  const identity = before === undefined ? undefined : identify(before)
  // The process may have ended between both looks, and another one may have its id.
  return findHolder(directory, holder) === before ? identity : undefined
}

/** What a worker on a machine that joined keeps. Only the worker's user may enter it. */
export function workerDirectory(dataDir: string): string {
  return path.join(dataDir, 'worker')
}
