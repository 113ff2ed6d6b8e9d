import type { AutoscaledService } from '../../src/db/autoscale/records.ts'
import { observationIntervalMs } from '../../src/domain/autoscale/looks.ts'
import type { AutoscaleMember } from '../../src/domain/autoscale/members.ts'
import type { AutoscaleView, WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import type { HostLoads } from '../../src/domain/host/api-protocol.ts'
import { ObservedHost } from './observed-host.ts'
import { longestSampleMs } from './samples.ts'
import { ServiceWatch } from './service-watch.ts'

/** Looks at all watched services together, every `observationIntervalMs`. */
export interface ServiceObserver {
  /**
   * Resolves when there is something to do for the service, and rejects with the signal's reason once that is
   * aborted, or with `ObserverClosed`. A database or hosts that are away are waited for.
   */
  watch(input: WatchInput, options: WatchOptions): Promise<WatchResult>
  /** Ends all watches; nothing runs afterwards. */
  close(): void
}

export interface WatchOptions {
  readonly signal: AbortSignal
  /**
   * Called every `roundsPerView` looks, or less often where many watch, also while nothing can be seen. Must
   * not throw.
   */
  readonly onView: (view: AutoscaleView) => void
}

export interface ObserverDeps {
  /** Those that have a configuration; the others are left out. */
  readonly readServices: (serviceUuids: readonly string[]) => Promise<readonly AutoscaledService[]>
  /** Throws where the host does not answer. */
  readonly readLoads: (nodeId: string, instanceUuids: readonly string[]) => Promise<HostLoads>
  readonly nowMs: () => number
  readonly timers: Timers
  /** Told of what happens, for metrics and the log. Must not throw. */
  readonly listener?: ObserverListener
}

/** Node's own, or those of a test. */
export interface Timers {
  /** Returns how to call it off. */
  readonly after: (delayMs: number, callback: () => void) => () => void
}

export const systemTimers: Timers = {
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export interface ObserverListener {
  round(round: { readonly durationMs: number; readonly services: number; readonly unknown: number }): void
  decided(kind: WatchResult['kind']): void
  /** Told once, and again after it was mended: the services can not be read. */
  failed(error: unknown): void
}

/** The worker stops: another one has to watch. */
export class ObserverClosed extends Error {
  override readonly name = 'ObserverClosed'
  constructor() {
    super('the observer is closed')
  }
}

/**
 * Hosts answer in milliseconds. One that needs longer is not waited for in this round; its answer counts in
 * the next.
 */
export const answerLimitMs = 500
/** How old a view gets where few services are watched. */
export const roundsPerView = 5
/**
 * A view becomes a heartbeat, which Temporal writes to its database: with the single writer of a development
 * server, the 60 a second that 1 000 services would send every 16 s kept everybody waiting for 4 s. So there
 * are no more than these in a round, and the services take turns;
 */
export const viewsPerRound = 10
/** but however many there are, each has its turn before it would be taken for dead: that is after 120 s. */
export const longestRoundsPerView = 75
/** Since then nothing was seen: that long, and people are told. */
const troubleAfterMs = 3_000

/** One who waits for something to do. */
interface Watcher {
  readonly watch: ServiceWatch
  readonly options: WatchOptions
  /** The tick at which it was told last what is seen; undefined before the first time. */
  toldAtTick: number | undefined
  readonly settle: (how: (result: PromiseWithResolvers<WatchResult>) => void) => void
}

/**
 * One timer for all: a tick per second begins a round, unless the one before is not over, and there is none
 * while nobody watches. A round reads all watched services by one query, asks every host once for all of
 * their instances that run there, and decides for each service by itself. What it needs of the past, hosts'
 * counters and services' last looks, is in memory only: a worker that begins anew knows enough after four
 * seconds.
 */
class RoundObserver implements ServiceObserver {
  readonly #deps: ObserverDeps
  readonly #watchers = new Set<Watcher>()
  readonly #hosts = new Map<string, ObservedHost>()
  /** Calls the next tick off; undefined while nobody watches. */
  #callOff: (() => void) | undefined
  #ticks = 0
  #isInRound = false
  #seenMs: number
  #hasFailed = false
  #isClosed = false

  constructor(deps: ObserverDeps) {
    this.#deps = deps
    this.#seenMs = deps.nowMs()
  }

  async watch(input: WatchInput, options: WatchOptions): Promise<WatchResult> {
    options.signal.throwIfAborted()
    if (this.#isClosed) throw new ObserverClosed()
    const result = Promise.withResolvers<WatchResult>()
    const aborted = (): void => watcher.settle(({ reject }) => reject(options.signal.reason))
    const watcher: Watcher = {
      watch: new ServiceWatch(input),
      options,
      toldAtTick: undefined,
      settle: (how) => {
        this.#watchers.delete(watcher)
        options.signal.removeEventListener('abort', aborted)
        how(result)
      },
    }
    options.signal.addEventListener('abort', aborted)
    this.#watchers.add(watcher)
    if (this.#callOff === undefined) {
      this.#seenMs = this.#deps.nowMs()
      this.#tickAfter(0)
    }
    return await result.promise
  }

  close(): void {
    this.#isClosed = true
    this.#callOff?.()
    for (const { settle } of this.#watchers) settle(({ reject }) => reject(new ObserverClosed()))
  }

  #tickAfter(delayMs: number): void {
    this.#callOff = this.#deps.timers.after(delayMs, () => this.#tick())
  }

  #tick(): void {
    this.#callOff = undefined
    if (this.#watchers.size === 0) return
    const beganMs = this.#deps.nowMs()
    this.#ticks += 1
    if (this.#isInRound) this.#tell()
    else void this.#round()
    this.#tickAfter(Math.max(0, observationIntervalMs - (this.#deps.nowMs() - beganMs)))
  }

  /** Never rejects. */
  async #round(): Promise<void> {
    const { nowMs, listener, readServices } = this.#deps
    const beganMs = nowMs()
    this.#isInRound = true
    try {
      const watched = [...this.#watchers]
      const services = await readServices([...new Set(watched.map(({ watch }) => watch.input.serviceUuid))])
      await this.#ask(services)
      const unknown = this.#decide(watched, services)
      this.#seenMs = nowMs()
      this.#hasFailed = false
      listener?.round({ durationMs: this.#seenMs - beganMs, services: services.length, unknown })
    } catch (error) {
      if (!this.#hasFailed) listener?.failed(error)
      this.#hasFailed = true
    } finally {
      this.#isInRound = false
      this.#tell()
    }
  }

  /** Resolves when all hosts have answered that are worth waiting for. */
  async #ask(services: readonly AutoscaledService[]): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const answers: Promise<void>[] = []
    for (const [nodeId, instanceUuids] of runningByHost(services)) {
      const host = this.#host(nodeId)
      host.wantedMs = nowMs
      answers.push(host.look(instanceUuids))
    }
    for (const [nodeId, { wantedMs }] of this.#hosts)
      if (nowMs - wantedMs > longestSampleMs) this.#hosts.delete(nodeId)
    if (answers.length === 0) return
    await new Promise<void>((resolve) => {
      const callOff = this.#deps.timers.after(answerLimitMs, resolve)
      void Promise.all(answers).then(() => {
        callOff()
        resolve()
      })
    })
  }

  #host(nodeId: string): ObservedHost {
    const known = this.#hosts.get(nodeId)
    if (known !== undefined) return known
    const { readLoads, nowMs } = this.#deps
    const host = new ObservedHost({ ask: (instanceUuids) => readLoads(nodeId, instanceUuids), nowMs })
    this.#hosts.set(nodeId, host)
    return host
  }

  /** How many services have a load that is not known. */
  #decide(watched: readonly Watcher[], services: readonly AutoscaledService[]): number {
    const nowMs = this.#deps.nowMs()
    const byUuid = new Map(services.map((service) => [service.serviceUuid, service]))
    const loadOf = ({ nodeId, uuid }: AutoscaleMember) => this.#hosts.get(nodeId)?.loadOf(uuid)
    let unknown = 0
    for (const watcher of watched) {
      if (!this.#watchers.has(watcher)) continue
      const { watch } = watcher
      try {
        const { result, isLoadUnknown } = watch.look(byUuid.get(watch.input.serviceUuid), loadOf, nowMs)
        if (isLoadUnknown) unknown += 1
        if (result === undefined) continue
        this.#deps.listener?.decided(result.kind)
        watcher.settle(({ resolve }) => resolve(result))
      } catch (error) {
        // What one service breaks must not keep the others.
        watcher.settle(({ reject }) => reject(error))
      }
    }
    return unknown
  }

  #tell(): void {
    const silentMs = this.#deps.nowMs() - this.#seenMs
    const trouble =
      silentMs < troubleAfterMs
        ? undefined
        : `the services could not be read for ${Math.round(silentMs / 1_000)} s`
    const all = [...this.#watchers]
    const due = all.filter(
      ({ toldAtTick }) => toldAtTick === undefined || toldAtTick + roundsPerView <= this.#ticks,
    )
    const turns = Math.max(viewsPerRound, Math.ceil(all.length / longestRoundsPerView))
    for (const watcher of due.toSorted(longestUntold).slice(0, turns)) {
      watcher.toldAtTick = this.#ticks
      watcher.options.onView(watcher.watch.view(trouble))
    }
  }
}

export function createServiceObserver(deps: ObserverDeps): ServiceObserver {
  return new RoundObserver(deps)
}

/** Whoever was told nothing yet comes first. */
function longestUntold(one: Watcher, other: Watcher): number {
  return (one.toldAtTick ?? 0) - (other.toldAtTick ?? 0)
}

/** What starts or sleeps has no load that would count. */
function runningByHost(services: readonly AutoscaledService[]): ReadonlyMap<string, readonly string[]> {
  const byHost = new Map<string, string[]>()
  for (const { members } of services) {
    for (const { nodeId, uuid, state } of members) {
      if (state !== InstanceState.Running) continue
      const there = byHost.get(nodeId)
      if (there === undefined) byHost.set(nodeId, [uuid])
      else there.push(uuid)
    }
  }
  return byHost
}
