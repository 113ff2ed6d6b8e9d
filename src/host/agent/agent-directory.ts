import { chmodSync, mkdirSync } from 'node:fs'
import { lockDirectory } from '../../primitives/directory-lock.ts'
import type { DirectoryLock } from '../../primitives/directory-lock.ts'

/**
 * Makes this process the only agent of a directory, or throws `DirectoryInUse`. Only the agent's own user
 * may enter the directory: it holds what instances print and the content of private images. VMs run as other
 * users; they get open descriptors of the files they may read, so they need no access to the directory.
 */
export function lockAgentDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o700)
  return lockDirectory(directory, {
    holder: 'agent',
    advice: 'stop it first or give this one a directory of its own',
  })
}
