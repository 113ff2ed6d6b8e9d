import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { PlatformEnd } from '../end-signals.ts'
import { confinedCommand } from './part-confinement.ts'
import { keepFromKiller } from './kill-score.ts'
import { HandOverMessage } from './hand-over-messages.ts'
import { environmentOf } from './part-environment.ts'
import { hasMembers, identify, signalProcess } from './process-identity.ts'
import { endSignalOf } from './part.ts'
import type { EndSignal, Part } from './part.ts'

/**
 * How long to wait for a part's last lines after its end. A process that has left the group may keep the
 * pipe open longer.
 */
const lastLinesLimitMs = 200
const childrenPollMs = 50
/**
 * The niceness of a part that gives way (`Part.givesWay`). Such a part gets a tenth of the processor time of
 * others.
 */
const niceness = 10

export interface PartExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * A started part. It has a process group of its own, so that Ctrl-C on the terminal reaches only the
 * supervisor.
 */
export interface PartProcess {
  readonly startedAtMs: number
  readonly exited: Promise<PartExit>
  /** Resolves when the part wants to hand over its work (`Part.handsOver`). */
  readonly wantsToLeave: Promise<void>
  /**
   * Gives the part's name in the run directory to a successor. The process itself has another one from now
   * on. Returns false if the process has ended already.
   */
  stepAside(): boolean
  /** Asks a part that hands over to want to leave. */
  askToLeave(): void
  /** Lets a part go that wants to leave: it ends what it has, and then itself. */
  letGo(): void
  /** From now on, what the part has started goes on when the part is killed, until `endChildren`. */
  leaveChildren(): void
  /**
   * Asks what a part that ended has left to end. Kills it after `limitMs`, or when `hastened` aborts, and
   * resolves then, or once nothing is left.
   */
  endChildren(limitMs: number, hastened: AbortSignal): Promise<void>
  /**
   * Asks the part to end by `signal` (default: its `stopSignal`), and kills the whole group after `limitMs`.
   * Resolves when the part is gone.
   */
  stop(limitMs: number, signal?: EndSignal): Promise<void>
}

export interface PartProcessOptions {
  /** The directory with a file for each running part. It tells the next supervisor what to clean up. */
  readonly runDirectory: string
  readonly onLine: (line: string) => void
  /** The supervisor's environment. Parts inherit all of it or some variables. */
  readonly environment: NodeJS.ProcessEnv
  /** Moves the part into the `PlatformGroup`. Not called for a part that gives way. */
  readonly enterGroup?: ((pid: number) => void) | undefined
  /** Given only by tests, which watch the calls. */
  readonly keepFromKiller?: (pid: number) => void
}

/** Starts a part. Throws if the program can not be started at all. */
export async function startPartProcess(part: Part, options: PartProcessOptions): Promise<PartProcess> {
  const [program, ...args] = commandOf(part)
  const child = spawn(program, args, {
    cwd: part.workingDirectory,
    env: environmentOf(part, options.environment),
    stdio: ['ignore', 'pipe', 'pipe', ...(part.handsOver === true ? ['ipc' as const] : [])],
    detached: true,
  })
  if (child.pid !== undefined) setPriority(part, child.pid, options)
  const ended = endOf(child)
  const pid = await pidOf(child)
  let file = path.join(options.runDirectory, `${part.name}.json`)
  mkdirSync(options.runDirectory, { recursive: true })
  writeFileSync(file, JSON.stringify({ ...identify(pid), stopSignal: orphanSignalOf(part) }))
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null) createInterface({ input: stream }).on('line', options.onLine)
  let childrenGoOn = false
  const exited = ended.then(async (exit) => {
    rmSync(file, { force: true })
    if (childrenGoOn) return exit
    // Every process that the part itself had started is killed too. Then nobody holds the pipes open any
    // more, and the last lines have arrived.
    signalProcess(-pid, 'SIGKILL')
    await Promise.race([once(child, 'close'), delay(lastLinesLimitMs)])
    return exit
  })
  return {
    startedAtMs: Date.now(),
    exited,
    wantsToLeave: new Promise((resolve) =>
      child.on('message', (message) => {
        if (message === HandOverMessage.Leaving) resolve()
      }),
    ),
    stepAside() {
      if (child.exitCode !== null || child.signalCode !== null) return false
      const aside = path.join(options.runDirectory, `${part.name}-leaving-${pid}.json`)
      renameSync(file, aside)
      file = aside
      return true
    },
    askToLeave() {
      if (child.exitCode === null && child.signalCode === null) signalProcess(pid, 'SIGTERM')
    },
    letGo() {
      // If the part has ended meanwhile, there is nobody to tell.
      if (child.connected) child.send(HandOverMessage.LetGo, () => undefined)
    },
    leaveChildren() {
      childrenGoOn = true
    },
    async endChildren(limitMs, hastened) {
      const untilMs = performance.now() + limitMs
      signalProcess(-pid, 'SIGTERM')
      while (hasMembers(pid) && performance.now() < untilMs && !hastened.aborted) await delay(childrenPollMs)
      signalProcess(-pid, 'SIGKILL')
    },
    async stop(limitMs, signal = part.stopSignal) {
      childrenGoOn = false
      const timer = setTimeout(() => signalProcess(-pid, 'SIGKILL'), limitMs)
      if (child.exitCode === null && child.signalCode === null) signalProcess(pid, signal)
      await exited
      clearTimeout(timer)
    },
  }
}

/**
 * The command line of a part. When the supervisor is gone, even after a kill -9, the kernel sends the part
 * a signal, so no part runs on without a supervisor. (The kernel ties the signal to the thread that
 * started the child. In Node that is the main thread.)
 */
function commandOf(part: Part): [string, ...string[]] {
  const before = confinedCommand(part.confinement, ['--pdeathsig', orphanSignalOf(part)])
  const nice = part.givesWay === true ? ['nice', '-n', String(niceness)] : []
  const [program = part.program, ...args] = [...nice, ...before, part.program, ...part.args]
  return [program, ...args]
}

/** Nobody decided that virtual machines end, so they stay. */
function orphanSignalOf(part: Part): EndSignal {
  return endSignalOf(part, PlatformEnd.KeepVms)
}

/** Sets the part's priorities for memory and processors, before the part can start anything itself. */
function setPriority(part: Part, pid: number, options: PartProcessOptions): void {
  const keep = options.keepFromKiller ?? keepFromKiller
  keep(pid)
  if (part.givesWay === true) giveWay(pid)
  else options.enterGroup?.(pid)
}

/**
 * Sets the niceness of the part's session too. Some kernels share processors between sessions first, and
 * then the niceness of a process counts only within its session.
 */
function giveWay(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness))
  } catch {
    // This kernel has no niceness for sessions.
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
