import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Takes the lock `file` and returns a function that releases it. Calls `onWait` once if it has to wait. A
 * child process holds the lock and ends with this process in any case: flock(1) keeps the lock while `cat`
 * waits for the end of a pipe whose other side only this process holds.
 */
export async function takeLock(file, onWait) {
  const child = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C ends the terminal's whole process group. The child has a group of its own, because the lock has
    // to last until it is released.
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
