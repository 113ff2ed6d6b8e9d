import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Another stack runs on this data directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse'
}

/**
 * Makes this process the only one on `directory`, or throws `DirectoryInUse`. The lock ends with the process, however it
 * ends: flock(1) keeps it while `cat` waits for the end of a pipe whose other side only we hold. Returns the release.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  mkdirSync(directory, { recursive: true })
  const lockFile = path.join(directory, 'stack.lock')
  const child = spawn('flock', ['--nonblock', lockFile, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const held = once(child.stdout, 'data').then(() => true)
  const refused = once(child, 'exit').then(() => false)
  if (!(await Promise.race([held, refused]))) {
    throw new DirectoryInUse(
      `another stack${ownerOf(lockFile)} runs on ${directory}; stop it, or set ROOST_DATA_DIR (and ROOST_API_PORT, ROOST_TEMPORAL_UI_PORT) for a second one`,
    )
  }
  writeFileSync(lockFile, `${process.pid}\n`)
  return async () => {
    child.stdin.end()
    await refused
  }
}

function ownerOf(lockFile: string): string {
  const pid = readFileSync(lockFile, 'utf8').trim()
  return pid ? ` (process ${pid})` : ''
}
