import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `flock`'s own exit status when somebody else holds the lock. */
const heldByAnother = 1

/** Another agent works in this directory. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'
}

export interface DirectoryLock {
  release(): void
}

/**
 * Makes this process the only agent of a directory, or throws `DirectoryInUseError` at once. The lock is the kernel's, on a file
 * that stays open here: `flock` takes it on the descriptor it inherits and ends, and the lock goes with this process however that dies. VMs do not inherit it.
 * The directory is its user's alone: it holds what instances print and the content of private images. VMs have users of their own and get
 * descriptors of what they may read, so they need no way in.
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o700)
  const path = join(directory, 'agent.lock')
  const descriptor = openSync(path, 'a+')
  const { status, error, stderr } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  })
  if (status !== 0) {
    closeSync(descriptor)
    if (error !== undefined)
      throw new Error(`flock (package util-linux) could not be run: ${error.message}`, { cause: error })
    if (status !== heldByAnother) throw new Error(`${path} could not be locked: ${stderr.trim()}`)
    const holder = readFileSync(path, 'utf8').trim()
    throw new DirectoryInUseError(
      `another agent (process ${holder}) works in ${directory}; stop it first or give this one a directory of its own`,
    )
  }
  writeFileSync(path, `${String(process.pid)}\n`)
  return {
    release: () => {
      closeSync(descriptor)
    },
  }
}
