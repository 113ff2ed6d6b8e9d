import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `flock`'s own exit status when another process holds the lock. */
const heldByAnother = 1

/** Thrown if another process of the same kind works in the directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse'
}

export interface DirectoryLock {
  release(): void
}

export interface LockHolder {
  /**
   * The kind of the process, such as `agent`. It is a part of the message, and the lock's file is
   * `<holder>.lock`.
   */
  readonly holder: string
  /** What the reader of the message can do about the other process. */
  readonly advice: string
}

/**
 * Makes this process the only one of its kind in a directory, or throws `DirectoryInUse` at once. The kernel
 * holds the lock on a file that stays open in this process. The program `flock` inherits the descriptor of
 * that file, locks it, and ends. The lock ends with this process, however the process dies. No other child
 * inherits the descriptor.
 */
export function lockDirectory(directory: string, { holder, advice }: LockHolder): DirectoryLock {
  mkdirSync(directory, { recursive: true })
  const file = lockFile(directory, holder)
  const descriptor = openSync(file, 'a+')
  const { status, error, stderr } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  })
  if (status !== 0) {
    closeSync(descriptor)
    if (error !== undefined)
      throw new Error(`flock (package util-linux) could not be run: ${error.message}`, { cause: error })
    if (status !== heldByAnother) throw new Error(`${file} could not be locked: ${stderr.trim()}`)
    const other = readFileSync(file, 'utf8').trim()
    throw new DirectoryInUse(`another ${holder} (process ${other}) works in ${directory}; ${advice}`)
  }
  writeFileSync(file, `${String(process.pid)}\n`)
  return {
    release: () => {
      closeSync(descriptor)
    },
  }
}

/** Thrown if only another user may see who has a lock. */
export class HolderHidden extends Error {
  override readonly name = 'HolderHidden'
}

/**
 * The id of the process that works in a directory. The lock's file names the last one for ever, and another
 * process may have got its id since. So only a process that has the file open counts: it is the one that
 * locked it, because no child inherits the descriptor. Throws `HolderHidden`.
 */
export function findHolder(directory: string, holder: string): number | undefined {
  const file = lockFile(directory, holder)
  try {
    const lock = statSync(file)
    const pid = Number(readFileSync(file, 'utf8'))
    const open = readdirSync(`/proc/${pid}/fd`).map((one) =>
      statSync(`/proc/${pid}/fd/${one}`, { throwIfNoEntry: false }),
    )
    return open.some((one) => one?.dev === lock.dev && one.ino === lock.ino) ? pid : undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // There is no such file, or no such process any more.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    if (code === 'EACCES')
      throw new HolderHidden(`who has ${file} is hidden from this user`, { cause: error })
    throw error
  }
}

function lockFile(directory: string, holder: string): string {
  return join(directory, `${holder}.lock`)
}
