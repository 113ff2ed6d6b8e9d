import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Takes the lock `file`, waiting for it with `onWait` called once. The lock is held by a child that ends with
 * us, however we end: flock(1) keeps it while `cat` waits for the end of a pipe whose other side only we
 * hold. Returns the release.
 */
export async function takeLock(file, onWait) {
  const child = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C goes to the terminal's whole group; the lock has to last until we are done with it.
    detached: true,
  })
  const timer = setTimeout(() => onWait(), 300)
  try {
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`flock ${file} ended with ${code}`)
      }),
    ])
  } finally {
    clearTimeout(timer)
  }
  return async () => {
    child.stdin.end()
    if (child.exitCode === null) await once(child, 'exit')
  }
}
