import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import path from 'node:path'

/** How many characters of a failed command's output are repeated in the error. */
const keptOutputChars = 3000

/**
 * Runs a command and returns what it wrote to stdout. Throws with the end of its output if it fails.
 * `onLine` gets each line as it comes, to show progress.
 */
export function run(command, args, { cwd, env, onLine, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    })
    let stdout = ''
    let tail = ''
    const take = (chunk) => {
      tail = (tail + chunk).slice(-keptOutputChars)
      const line = tail.trimEnd().split('\n').at(-1)
      if (onLine && line) onLine(line.slice(0, 100))
    }
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk
      take(chunk)
    })
    child.stderr.setEncoding('utf8').on('data', take)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(stdout)
      else reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}:\n${tail.trim()}`))
    })
  })
}

/** Finds the path of a command: on the PATH without any `node_modules`, or else in the sbin directories. */
export async function which(command) {
  for (const directory of [...searchPath(), '/usr/local/sbin', '/usr/sbin', '/sbin']) {
    const file = path.join(directory, command)
    if (await isExecutable(file)) return file
  }
  return undefined
}

/**
 * The PATH without `node_modules`. `npm run` puts node_modules/.bin first, but set-up must not run programs
 * that it may be about to replace.
 */
export function searchPath() {
  return (process.env.PATH ?? '').split(':').filter((one) => one !== '' && !one.includes('node_modules'))
}

export async function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

export async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  )
}
