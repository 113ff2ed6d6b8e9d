import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { confinedCommand } from './part-confinement.ts'
import { keepFromKiller } from './kill-score.ts'
import { environmentOf } from './part-environment.ts'
import { identify, signalProcess } from './process-identity.ts'
import type { Part } from './part.ts'

/** A process that left the group keeps the pipe; its lines are not waited for. */
const lastLinesLimitMs = 200
/** A tenth of what others have. */
const niceness = 10

export interface PartExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * A started part: a process group of its own, so that Ctrl-C at the terminal reaches the supervisor alone.
 */
export interface PartProcess {
  readonly startedAtMs: number
  readonly exited: Promise<PartExit>
  /** Asks for the end; after `limitMs` the whole group is killed. Resolves when it is gone. */
  stop(limitMs: number): Promise<void>
}

export interface PartProcessOptions {
  /** Where a file per running part tells the next supervisor what to clean up. */
  readonly runDirectory: string
  readonly onLine: (line: string) => void
  /** What parts inherit, all or a part of it. */
  readonly environment: NodeJS.ProcessEnv
  /** See `PlatformGroup`; a part that gives way does not enter. */
  readonly enterGroup?: ((pid: number) => void) | undefined
  /** Tests look on. */
  readonly keepFromKiller?: (pid: number) => void
}

/** Throws when the program can not be started at all. */
export async function startPartProcess(part: Part, options: PartProcessOptions): Promise<PartProcess> {
  const [program, ...args] = commandOf(part)
  const child = spawn(program, args, {
    cwd: part.workingDirectory,
    env: environmentOf(part, options.environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid !== undefined) setPriority(part, child.pid, options)
  const ended = endOf(child)
  const pid = await pidOf(child)
  const file = path.join(options.runDirectory, `${part.name}.json`)
  mkdirSync(options.runDirectory, { recursive: true })
  writeFileSync(file, JSON.stringify({ ...identify(pid), stopSignal: part.stopSignal }))
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', options.onLine)
  const exited = ended.then(async (exit) => {
    // What the part itself had started goes with it; then nobody holds the pipes open and the last lines have
    // arrived.
    signalProcess(-pid, 'SIGKILL')
    rmSync(file, { force: true })
    await Promise.race([once(child, 'close'), delay(lastLinesLimitMs)])
    return exit
  })
  return {
    startedAtMs: Date.now(),
    exited,
    async stop(limitMs) {
      const timer = setTimeout(() => signalProcess(-pid, 'SIGKILL'), limitMs)
      if (child.exitCode === null && child.signalCode === null) signalProcess(pid, part.stopSignal)
      await exited
      clearTimeout(timer)
    },
  }
}

/**
 * The kernel sends the stop signal to a part whose supervisor is gone, even one killed with -9: no part lives
 * on unsupervised. (The signal is bound to the thread that started the child, which for Node is the main
 * thread.)
 */
function commandOf(part: Part): [string, ...string[]] {
  const before = confinedCommand(part.confinement, ['--pdeathsig', part.stopSignal])
  const nice = part.givesWay === true ? ['nice', '-n', String(niceness)] : []
  const [program = part.program, ...args] = [...nice, ...before, part.program, ...part.args]
  return [program, ...args]
}

/** Of memory and of processors, before the part can start anything itself. */
function setPriority(part: Part, pid: number, options: PartProcessOptions): void {
  const keep = options.keepFromKiller ?? keepFromKiller
  keep(pid)
  if (part.givesWay === true) giveWay(pid)
  else options.enterGroup?.(pid)
}

/**
 * Where the kernel shares processors between sessions first, niceness counts within a session only: so the
 * session's is set as well.
 */
function giveWay(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness))
  } catch {
    // A kernel without it.
  }
}

function endOf(child: ChildProcess): Promise<PartExit> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
}

function pidOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => {
      if (child.pid !== undefined) resolve(child.pid)
    })
  })
}
