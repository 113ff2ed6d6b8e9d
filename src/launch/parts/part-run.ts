import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { nextPause } from '../../primitives/restart-pause.ts'
import type { EndsInRow } from '../../primitives/restart-pause.ts'
import type { PlatformEnd } from '../end-signals.ts'
import { CannotLeave } from './cannot-leave.ts'
import { endSignalOf } from './part.ts'
import type { Part } from './part.ts'
import { startPartProcess } from './part-process.ts'
import type { PartExit, PartProcess } from './part-process.ts'

export interface PartRunOptions {
  readonly runDirectory: string
  /**
   * The supervisor's environment. Roost's own parts inherit all of it, other programs only some variables.
   */
  readonly environment: NodeJS.ProcessEnv
  /** See `PlatformGroup`. Without it parts stay in the supervisor's group. */
  readonly enterGroup?: ((pid: number) => void) | undefined
  readonly log: Logger
  /** Called with every line that a part writes. */
  readonly onLine: (part: string, line: string) => void
  readonly startLimitMs?: number
}

export interface PartStop {
  /** When the part is killed, by `Date.now()`. */
  readonly deadlineMs: number
  readonly end: PlatformEnd
}

/**
 * How long one part may take to become ready. A first start creates databases, which takes long on a slow
 * disk.
 */
const defaultStartLimitMs = 90_000
/**
 * After this time without a ready successor the log says that a part can not be handed over. The part goes
 * on with its work until there is one: an old process that works is better than none.
 */
const handOverLimitMs = 90_000
/**
 * The most processes of one part that are leaving at a time. Each keeps its memory until its last connection
 * has ended, so with more the oldest is ended. The children of as many killed processes may go on.
 */
const mostLeaving = 3
/**
 * How long the children of a killed part go on without a successor (`Part.handsOver`). A part is usually back
 * within two seconds.
 */
const aloneLimitMs = 10_000
/** How long such children may take to end once they are asked to. It is longer than the gateway takes. */
const childrenEndLimitMs = 10_000
/** The least time between a part's stop signal and its kill, even when the time for all parts is over. */
const shortestStopMs = 50
/** How long a part may take to say that it wants to leave, once it is asked to. */
const leaveLimitMs = 20_000
const keptLines = 15

/** What comes after a run that hands over. */
interface Successor {
  readonly start: () => Promise<void>
  readonly settled: PromiseWithResolvers<void>
  isStarting: boolean
}

/**
 * One part from its start to its stop, with all processes that it has meanwhile: one that ends is started
 * again with back-off, for ever. A part that was stopped gets another run when it is started again.
 */
export class PartRun {
  readonly #part: Part
  readonly #options: PartRunOptions
  readonly #stopping: AbortSignal
  readonly #lastLines: string[] = []
  #process: PartProcess | undefined
  /** Processes whose work goes to `#process`, the oldest first. They end by themselves. */
  readonly #leaving = new Set<PartProcess>()
  /** The process that was ready last. */
  #ready: PartProcess | undefined
  /** Resolves when the next process is ready. */
  #nextReady = Promise.withResolvers<void>()
  /** One for each killed process whose children go on. It resolves at their end. */
  readonly #outliving = new Set<Promise<void>>()
  /** A start that is under way. `stop` waits for it, so that no process starts after `stop`. */
  #starting: Promise<PartProcess> | undefined
  #crash: EndsInRow | undefined
  /** What gets the work when the part leaves, in place of another process of this run. */
  #next: Successor | undefined
  /** How often the part has ended by itself. */
  ends = 0

  /** `stopping` aborts before `stop` is called. From then on no process is started. */
  constructor(part: Part, options: PartRunOptions, stopping: AbortSignal) {
    this.#part = part
    this.#options = options
    this.#stopping = stopping
  }

  /** Resolves once the part is ready. Throws if it ends before that, or is not ready in time. */
  async start(): Promise<void> {
    const limitMs = this.#options.startLimitMs ?? defaultStartLimitMs
    const running = await this.#spawn()
    const waiting = new AbortController()
    try {
      await Promise.race([
        this.#part.ready(AbortSignal.any([waiting.signal, this.#stopping, AbortSignal.timeout(limitMs)])),
        running.exited.then((exit) =>
          this.#failStart(`ended with ${describeExit(exit)} before it was ready`),
        ),
      ])
    } catch (error) {
      if (error instanceof PartStartError || this.#stopping.aborted) throw error
      this.#failStart(`was not ready after ${limitMs / 1000} s`, error)
    } finally {
      waiting.abort()
    }
    this.#options.log.info(`${this.#part.name} is ready`)
    this.#becomesReady(running)
    this.#watch(running)
  }

  /** Ends the part by `end`, and kills what has not ended at the deadline or after the part's own limit. */
  async stop({ deadlineMs, end }: PartStop): Promise<void> {
    await this.#starting?.catch(() => undefined)
    const leftMs = Math.max(shortestStopMs, deadlineMs - Date.now())
    const limitMs = Math.min(leftMs, this.#part.stopLimitMs)
    const all = this.#process === undefined ? this.#leaving : [...this.#leaving, this.#process]
    const signal = endSignalOf(this.#part, end)
    await Promise.all([...all].map(async (running) => await running.stop(limitMs, signal)))
    await Promise.all(this.#outliving)
  }

  /** See `RunningPart`. */
  insist(): void {
    void this.#startAgain()
  }

  /** See `RunningPart`. The part hands over (`Part.handsOver`). */
  async handOverTo(startNext: () => Promise<void>): Promise<void> {
    const { name } = this.#part
    const leaving = this.#process
    if (leaving === undefined || this.#stopping.aborted) throw new CannotLeave(`${name} does not run`)
    const settled = Promise.withResolvers<void>()
    const next: Successor = { start: startNext, settled, isStarting: false }
    this.#next = next
    const giveUp = (why: string) => (): void => {
      if (!next.isStarting) settled.reject(new CannotLeave(`${name} ${why}`))
    }
    const late = setTimeout(giveUp(`did not want to leave within ${leaveLimitMs / 1000} s`), leaveLimitMs)
    void leaving.exited.then(giveUp('ended before it left'))
    this.#stopping.addEventListener('abort', giveUp('is stopped'))
    leaving.askToLeave()
    try {
      await settled.promise
    } finally {
      clearTimeout(late)
      this.#next = undefined
    }
  }

  async #spawn(): Promise<PartProcess> {
    this.#starting = this.#prepareAndSpawn()
    this.#process = await this.#starting
    return this.#process
  }

  async #prepareAndSpawn(): Promise<PartProcess> {
    this.#stopping.throwIfAborted()
    await this.#part.prepare?.()
    this.#stopping.throwIfAborted()
    return startPartProcess(this.#part, {
      runDirectory: this.#options.runDirectory,
      environment: this.#options.environment,
      enterGroup: this.#options.enterGroup,
      onLine: (line) => {
        this.#lastLines.push(line)
        if (this.#lastLines.length > keptLines) this.#lastLines.shift()
        this.#options.onLine(this.#part.name, line)
      },
    })
  }

  #watch(running: PartProcess): void {
    void running.exited.then(async (exit) => {
      if (running === this.#ready && this.#outliving.size < mostLeaving) this.#outlive(running)
      else void running.endChildren(0, this.#stopping)
      if (this.#leaving.delete(running)) this.#options.log.info(`${this.#part.name} has left`)
      else if (!this.#stopping.aborted) await this.#restart(exit, Date.now() - running.startedAtMs)
    })
    void running.wantsToLeave.then(async () => {
      if (!this.#stopping.aborted) await this.#handOver(running)
    })
  }

  /** The children of a part that hands over outlive it from now on, if it is killed. */
  #becomesReady(running: PartProcess): void {
    if (this.#part.handsOver === true) running.leaveChildren()
    this.#ready = running
    this.#nextReady.resolve()
    this.#nextReady = Promise.withResolvers()
  }

  /** Ends the children of a process that ended, once its successor is ready. */
  #outlive(ended: PartProcess): void {
    const wake = new AbortController()
    const successor = this.#nextReady.promise
    const limit = AbortSignal.any([this.#stopping, wake.signal])
    const late = delay(aloneLimitMs, undefined, { signal: limit }).catch(() => undefined)
    const end = Promise.race([successor, late])
      .then(async () => {
        wake.abort()
        await ended.endChildren(childrenEndLimitMs, this.#stopping)
      })
      .finally(() => this.#outliving.delete(end))
    this.#outliving.add(end)
  }

  /** Starts the successor of a process that wants to leave. The process is let go once that is ready. */
  async #handOver(leaving: PartProcess): Promise<void> {
    const { log } = this.#options
    const { name } = this.#part
    if (!leaving.stepAside()) return
    log.info(`${name} wants to leave; its successor is started`)
    this.#leaving.add(leaving)
    const [oldest] = this.#leaving
    if (this.#leaving.size > mostLeaving) void oldest?.stop(this.#part.stopLimitMs)
    if (this.#next === undefined) await this.#startAgain()
    else await this.#leaveFor(leaving, this.#next)
  }

  /** Lets the process go once what comes after this run is ready. Without that the run goes on. */
  async #leaveFor(leaving: PartProcess, next: Successor): Promise<void> {
    const { start, settled } = next
    next.isStarting = true
    try {
      await start()
    } catch (error) {
      this.#next = undefined
      await this.#startAgain()
      settled.reject(error)
      return
    }
    // Its children have no successor here to wait for.
    this.#ready = undefined
    leaving.letGo()
    settled.resolve()
  }

  async #restart(exit: PartExit, uptimeMs: number): Promise<void> {
    this.ends += 1
    const { log } = this.#options
    const { name } = this.#part
    // Clients wait for Roost's own parts. The children of others, such as PostgreSQL, may end a moment later.
    this.#crash = nextPause(this.#crash, uptimeMs, { firstAtOnce: this.#part.readsSettings ?? false })
    const { pauseMs: delayMs, ends: crashes } = this.#crash
    log.warn({ crashes, delayMs }, `${name} ended with ${describeExit(exit)}; starting it again`)
    await delay(delayMs, undefined, { signal: this.#stopping }).catch(() => undefined)
    await this.#startAgain()
  }

  async #startAgain(): Promise<void> {
    try {
      this.#stopping.throwIfAborted()
      const running = await this.#spawn()
      this.#watch(running)
      void this.#reportReadiness(running)
    } catch (error) {
      if (this.#stopping.aborted) return
      this.#options.log.error({ err: error }, `${this.#part.name} could not be started again`)
      await this.#restart({ code: null, signal: null }, 0)
    }
  }

  /**
   * Waits until the part is ready again. Then the processes whose successor it is may go. If the part ends
   * before that, `#watch` starts it again.
   */
  async #reportReadiness(running: PartProcess): Promise<void> {
    const ended = new AbortController()
    void running.exited.then(() => ended.abort())
    const late = setTimeout(() => {
      if (this.#leaving.size > 0)
        this.#options.log.error(`${this.#part.name} has no ready successor yet; the old process goes on`)
    }, handOverLimitMs)
    const isReady = await this.#part.ready(AbortSignal.any([this.#stopping, ended.signal])).then(
      () => true,
      () => false,
    )
    clearTimeout(late)
    if (!isReady) return
    this.#options.log.info(`${this.#part.name} is ready again`)
    this.#becomesReady(running)
    for (const leaving of this.#leaving) leaving.letGo()
  }

  #failStart(what: string, cause?: unknown): never {
    const said = this.#lastLines.map((line) => `\n  ${line}`).join('')
    const shortly = `${this.#part.name} ${what}`
    throw new PartStartError(`${shortly}${said && `; it said last:${said}`}`, { cause, shortly })
  }
}

/** A part failed at the first start. The message has the last lines that the part wrote. */
export class PartStartError extends Error {
  override readonly name = 'PartStartError'
  /** The message without what the part said last. */
  readonly shortly: string

  constructor(message: string, { cause, shortly }: { readonly cause: unknown; readonly shortly: string }) {
    super(message, { cause })
    this.shortly = shortly
  }
}

function describeExit(exit: PartExit): string {
  return exit.signal ?? `code ${exit.code}`
}
