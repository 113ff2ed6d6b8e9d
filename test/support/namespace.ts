import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import process from 'node:process'

/**
 * As root a run lives in a network namespace of its own, `<prefix>-<pid>`: its loopback ports and its VM
 * networks meet nobody else's. The process that makes it stays outside, runs itself again inside, and removes
 * the namespace with everything that still runs in it, however the run ended. For parts of the run that would
 * meet each other there are further namespaces, `<prefix>-<pid>-<part>`.
 */
const insideVariable = 'ROOST_TEST_NAMESPACE'

/** The namespace that this process was started in by `runInNamespace`. */
export function currentNamespace(): string | undefined {
  return process.env[insideVariable]
}

export function needsNamespace(): boolean {
  return process.getuid?.() === 0 && currentNamespace() === undefined
}

/** The namespace for a part of the run, one of those that `runInNamespace` was told of. */
export function namespaceOf(part: string): string | undefined {
  const whole = currentNamespace()
  return whole === undefined ? undefined : `${whole}-${part}`
}

export interface Inside {
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** The command and the environment that run another command inside. */
export function inside(namespace: string, { command, env }: Inside): Inside {
  return {
    command: ['nsenter', `--net=/run/netns/${namespace}`, '--', ...command],
    env: { ...env, [insideVariable]: namespace },
  }
}

/** Runs this very command again inside and resolves with its exit code. */
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
    // The inner process winds down by itself; this one only has to outlive it to remove the namespace.
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

/** Processes inside a namespace; empty where it is gone. */
export function processesIn(name: string): readonly number[] {
  try {
    return ip('netns', 'pids', name).split('\n').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** What a run that was killed left behind. */
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
      // It ended by itself meanwhile.
    }
  }
  ip('netns', 'delete', name)
}

function ip(...args: readonly string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
