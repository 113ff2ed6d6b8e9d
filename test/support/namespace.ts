import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import process from 'node:process'

/**
 * As root, a test run has a network namespace of its own, `<prefix>-<pid>`, so that its loopback ports and
 * VM networks do not collide with others. The process that makes the namespace stays outside and runs itself
 * again inside. However the run ended, it removes the namespace with everything that still runs in it. Parts
 * of the run that would collide with each other have further namespaces, `<prefix>-<pid>-<part>`.
 */
const insideVariable = 'ROOST_TEST_NAMESPACE'

/** The namespace that this process was started in by `runInNamespace`. */
export function currentNamespace(): string | undefined {
  return process.env[insideVariable]
}

export function needsNamespace(): boolean {
  return process.getuid?.() === 0 && currentNamespace() === undefined
}

/** The namespace for a part of the run. `runInNamespace` must have been called with that part. */
export function namespaceOf(part: string): string | undefined {
  const whole = currentNamespace()
  return whole === undefined ? undefined : `${whole}-${part}`
}

export interface Inside {
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** The command and the environment that run another command inside the namespace. */
export function inside(namespace: string, { command, env }: Inside): Inside {
  return {
    command: ['nsenter', `--net=/run/netns/${namespace}`, '--', ...command],
    env: { ...env, [insideVariable]: namespace },
  }
}

/** Makes the namespaces and runs this process's own command again inside. Resolves with its exit code. */
export async function runInNamespace(prefix: string, parts: readonly string[] = []): Promise<number> {
  removeStaleNamespaces(prefix)
  const name = `${prefix}-${process.pid}`
  const made: string[] = []
  try {
    for (const each of [name, ...parts.map((part) => `${name}-${part}`)]) {
      ip('netns', 'add', each)
      made.push(each)
      ip('-n', each, 'link', 'set', 'lo', 'up')
    }
    const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
    const {
      command: [program = '', ...args],
      env,
    } = inside(name, { command, env: process.env })
    const child = spawn(program, args, { stdio: 'inherit', env })
    // The inner process ends by itself. This process must live longer to remove the namespace.
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    for (const signal of signals) process.on(signal, () => void child.kill(signal))
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
    })
  } finally {
    made.forEach(removeNamespace)
  }
}

/** The processes inside a namespace; empty if the namespace is gone. */
export function processesIn(name: string): readonly number[] {
  try {
    return ip('netns', 'pids', name).split('\n').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Removes namespaces that killed runs left behind. */
function removeStaleNamespaces(prefix: string): void {
  const names = ip('netns', 'list')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  for (const name of names) {
    const owner = new RegExp(`^${prefix}-(\\d+)(-|$)`).exec(name)?.[1]
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) removeNamespace(name)
  }
}

function removeNamespace(name: string): void {
  for (const pid of processesIn(name)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process ended by itself meanwhile.
    }
  }
  ip('netns', 'delete', name)
}

function ip(...args: readonly string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
