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
   * Resolves when there is something to do for the service. Rejects with the signal's reason if the signal
   * is aborted, and with `ObserverClosed` if the observer is closed. While the database or hosts are away,
   * the watch goes on.
   */
  watch(input: WatchInput, options: WatchOptions): Promise<WatchResult>
  /** Ends all watches. No round begins afterwards; a round that is under way has no effect any more. */
  close(): void
}

export interface WatchOptions {
  readonly signal: AbortSignal
  /**
   * Called every `roundsPerView` looks, or less often if there are many watches. It is also called while
   * nothing can be seen. Must not throw.
   */
  readonly onView: (view: AutoscaleView) => void
}

export interface ObserverDeps {
  /** Reads the services. Those without a configuration are left out. */
  readonly readServices: (serviceUuids: readonly string[]) => Promise<readonly AutoscaledService[]>
  /** Throws if the host does not answer. */
  readonly readLoads: (nodeId: string, instanceUuids: readonly string[]) => Promise<HostLoads>
  readonly nowMs: () => number
  readonly timers: Timers
  /** Hears what happens, for metrics and the log. Its functions must not throw. */
  readonly listener?: ObserverListener
}

/** The timers of Node, or those of a test. */
export interface Timers {
  /** Returns a function that cancels the timer. */
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
  /** The services can not be read. Called once, and again only if reads have succeeded since. */
  failed(error: unknown): void
}

/** The worker stops, so another worker has to take the watch over. */
export class ObserverClosed extends Error {
  override readonly name = 'ObserverClosed'
  constructor() {
    super('the observer is closed')
  }
}

/**
 * How long a round waits for hosts, which answer in milliseconds. The answer of a slower host counts in the
 * next round.
 */
export const answerLimitMs = 500
/** How many rounds pass between two views of a service if few services are watched. */
export const roundsPerView = 5
/**
 * The most views in a round; the services take turns. Each view becomes a heartbeat, which Temporal writes
 * to its database. 1 000 services that each send a view every 16 s make 60 writes a second. On a development
 * server, whose database has one writer, that made all other calls wait for 4 s.
 */
export const viewsPerRound = 10
/**
 * The most rounds between two views of a service. If there are so many services that `viewsPerRound` would
 * make them wait longer, a round has more views. Temporal takes a watch for dead after 120 s without a
 * heartbeat.
 */
export const longestRoundsPerView = 75
/** After this time without a successful look, the view says so to people. */
const troubleAfterMs = 3_000

/** A watch that is under way. */
interface OpenWatch {
  readonly watch: ServiceWatch
  readonly options: WatchOptions
  /** The tick of the last view; undefined before the first view. */
  toldAtTick: number | undefined
  readonly settle: (how: (result: PromiseWithResolvers<WatchResult>) => void) => void
}

/**
 * All watches share one timer, which ticks every second while there are watches. A tick begins a round,
 * unless the round before is still under way. A round reads all watched services with one query, and asks
 * each host once for the loads of all instances that run there. Then it decides for each service by itself.
 * Hosts' counters and services' last looks are kept in memory only: a new worker knows enough after four
 * seconds.
 */
class RoundObserver implements ServiceObserver {
  readonly #deps: ObserverDeps
  readonly #watches = new Set<OpenWatch>()
  readonly #hosts = new Map<string, ObservedHost>()
  /** Cancels the next tick; undefined while there are no watches. */
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
    const aborted = (): void => open.settle(({ reject }) => reject(options.signal.reason))
    const open: OpenWatch = {
      watch: new ServiceWatch(input),
      options,
      toldAtTick: undefined,
      settle: (how) => {
        this.#watches.delete(open)
        options.signal.removeEventListener('abort', aborted)
        how(result)
      },
    }
    options.signal.addEventListener('abort', aborted)
    this.#watches.add(open)
    if (this.#callOff === undefined) {
      this.#seenMs = this.#deps.nowMs()
      this.#tickAfter(0)
    }
    return await result.promise
  }

  close(): void {
    this.#isClosed = true
    this.#callOff?.()
    for (const { settle } of this.#watches) settle(({ reject }) => reject(new ObserverClosed()))
  }

  #tickAfter(delayMs: number): void {
    this.#callOff = this.#deps.timers.after(delayMs, () => this.#tick())
  }

  #tick(): void {
    this.#callOff = undefined
    if (this.#watches.size === 0) return
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
      const watched = [...this.#watches]
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

  /** Asks the hosts, and resolves when all have answered or `answerLimitMs` is over. */
  async #ask(services: readonly AutoscaledService[]): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const answers: Promise<void>[] = []
    for (const [nodeId, instanceUuids] of runningByHost(services)) {
      const host = this.#host(nodeId)
      host.wantedMs = nowMs
      answers.push(host.ask(instanceUuids))
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

  /**
   * Ends the watches of services for which there is something to do. Returns how many services have an
   * unknown load.
   */
  #decide(watched: readonly OpenWatch[], services: readonly AutoscaledService[]): number {
    const nowMs = this.#deps.nowMs()
    const byUuid = new Map(services.map((service) => [service.serviceUuid, service]))
    const loadOf = ({ nodeId, uuid }: AutoscaleMember) => this.#hosts.get(nodeId)?.loadOf(uuid)
    let unknown = 0
    for (const open of watched) {
      if (!this.#watches.has(open)) continue
      const { watch } = open
      try {
        const { result, isLoadUnknown } = watch.look(byUuid.get(watch.input.serviceUuid), loadOf, nowMs)
        if (isLoadUnknown) unknown += 1
        if (result === undefined) continue
        this.#deps.listener?.decided(result.kind)
        open.settle(({ resolve }) => resolve(result))
      } catch (error) {
        // A failure with one service must not stop the looks at the others.
        open.settle(({ reject }) => reject(error))
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
    const all = [...this.#watches]
    const due = all.filter(
      ({ toldAtTick }) => toldAtTick === undefined || toldAtTick + roundsPerView <= this.#ticks,
    )
    const turns = Math.max(viewsPerRound, Math.ceil(all.length / longestRoundsPerView))
    for (const open of due.toSorted(longestUntold).slice(0, turns)) {
      open.toldAtTick = this.#ticks
      open.options.onView(open.watch.view(trouble))
    }
  }
}

export function createServiceObserver(deps: ObserverDeps): ServiceObserver {
  return new RoundObserver(deps)
}

/** Sorts watches by their last view. Those without a view come first. */
function longestUntold(one: OpenWatch, other: OpenWatch): number {
  return (one.toldAtTick ?? 0) - (other.toldAtTick ?? 0)
}

/** The running instances of all services by host. Instances that start or sleep have no load that counts. */
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
