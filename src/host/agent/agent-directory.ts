import { chmodSync, mkdirSync } from 'node:fs'
import { lockDirectory } from '../../primitives/directory-lock.ts'
import type { DirectoryLock } from '../../primitives/directory-lock.ts'

/**
 * Makes this process the only agent of a directory, or throws `DirectoryInUse`. The directory is its user's
 * alone: it holds what instances print and the content of private images. VMs have users of their own and get
 * descriptors of what they may read, so they need no way in.
 */
export function lockAgentDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o700)
  return lockDirectory(directory, {
    holder: 'agent',
    advice: 'stop it first or give this one a directory of its own',
  })
}
