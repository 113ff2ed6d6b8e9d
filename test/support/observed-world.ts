import { createServiceObserver } from '../../activities/autoscale/service-observer.ts'
import type { ServiceObserver } from '../../activities/autoscale/service-observer.ts'
import type { AutoscaledService } from '../../src/db/autoscale/records.ts'
import type { AutoscaleMember } from '../../src/domain/autoscale/members.ts'
import { AdjustmentType, AutoscaleMetric } from '../../src/domain/autoscale/policy.ts'
import type { AutoscaleView, WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import type { HostLoads, LoadCounters } from '../../src/domain/host/api-protocol.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A policy that adds one instance at a load of 500 millicores or more, and gives one back below 100. */
const policy = {
  name: 'busy',
  metric: AutoscaleMetric.Cpu,
  adjustmentType: AdjustmentType.Change,
  steps: [
    { upperBound: 100, adjustment: -1 },
    { lowerBound: 100, upperBound: 500, adjustment: 0 },
    { lowerBound: 500, adjustment: 1 },
  ],
}

/** A host whose instances use as much CPU as the test says. */
export class FakeHostLoads {
  readonly #clock: VirtualClock
  /** The time at which the host's clock began. */
  bornMs: number
  /** How long the host takes to answer. Null: it does not answer. */
  answerMs: number | null = 0
  fails = false
  readonly asked: (readonly string[])[] = []
  readonly #used = new Map<string, { cpuTimeMs: number; sinceMs: number; millicores: number }>()

  constructor(clock: VirtualClock) {
    this.#clock = clock
    this.bornMs = clock.nowMs - 1_000_000
  }

  uses(uuid: string, millicores: number): void {
    const { cpuTimeMs } = this.#counters(uuid)
    this.#used.set(uuid, { cpuTimeMs, sinceMs: this.#clock.nowMs, millicores })
  }

  /** Restarts the machine, which resets all counters. */
  restart(): void {
    this.bornMs = this.#clock.nowMs
    for (const [uuid, used] of this.#used)
      this.#used.set(uuid, { ...used, cpuTimeMs: 0, sinceMs: this.#clock.nowMs })
  }

  async answer(uuids: readonly string[]): Promise<HostLoads> {
    this.asked.push(uuids)
    if (this.fails) throw new Error('the host does not answer')
    const loads = Object.fromEntries(
      uuids.flatMap((uuid) => (this.#used.has(uuid) ? [[uuid, this.#counters(uuid)]] : [])),
    )
    const answer = { atMs: this.#clock.nowMs - this.bornMs, loads }
    if (this.answerMs === null) return await new Promise(() => undefined)
    if (this.answerMs > 0) await this.#clock.delay(this.answerMs)
    return answer
  }

  #counters(uuid: string): LoadCounters {
    const used = this.#used.get(uuid) ?? { cpuTimeMs: 0, sinceMs: this.#clock.nowMs, millicores: 0 }
    const cpuTimeMs = used.cpuTimeMs + ((this.#clock.nowMs - used.sinceMs) * used.millicores) / 1_000
    return { cpuTimeMs, inFlight: 0, handledPerSecond: 0 }
  }
}

export interface Watched {
  readonly views: AutoscaleView[]
  readonly controller: AbortController
  readonly promise: Promise<WatchResult>
  result?: WatchResult
  error?: unknown
}

/** Services, hosts and an observer in virtual time. */
export class ObservedWorld {
  readonly clock = new VirtualClock()
  readonly hosts = new Map<string, FakeHostLoads>()
  readonly services = new Map<string, AutoscaledService>()
  /** How PostgreSQL behaves. */
  database: 'answers' | 'fails' | 'hangs' = 'answers'
  queries = 0
  readonly rounds: { readonly durationMs: number; readonly services: number; readonly unknown: number }[] = []
  readonly decided: string[] = []
  failures = 0
  readonly observer: ServiceObserver = createServiceObserver({
    readServices: async (uuids) => await this.#read(uuids),
    readLoads: async (nodeId, uuids) => await this.host(nodeId).answer(uuids),
    nowMs: () => this.clock.nowMs,
    timers: this.clock.timers,
    listener: {
      round: (round) => this.rounds.push(round),
      decided: (kind) => this.decided.push(kind),
      failed: () => (this.failures += 1),
    },
  })

  host(nodeId: string): FakeHostLoads {
    const known = this.hosts.get(nodeId)
    if (known !== undefined) return known
    const made = new FakeHostLoads(this.clock)
    this.hosts.set(nodeId, made)
    return made
  }

  /** Adds a service whose instances have run for a minute and use 300 millicores each. */
  add(
    serviceUuid: string,
    options: { readonly hosts?: readonly string[]; readonly minSize?: number } = {},
  ): void {
    const members = (options.hosts ?? ['one']).map((nodeId, index) =>
      this.member(`${serviceUuid}-${index}`, { nodeId, isMaster: index === 0 }),
    )
    for (const { nodeId, uuid } of members) this.host(nodeId).uses(uuid, 300)
    const bounds = { minSize: options.minSize ?? 1, maxSize: 8, warmupMs: 1_000, cooldownMs: 1_000 }
    const configuration = { ...bounds, policies: [policy] }
    this.services.set(serviceUuid, { serviceUuid, masterUuid: `${serviceUuid}-0`, configuration, members })
  }

  member(uuid: string, more: Partial<AutoscaleMember> = {}): AutoscaleMember {
    const startedAtMs = this.clock.nowMs - 60_000
    const fixed = { uuid, name: uuid, isMaster: false, nodeId: 'one', state: InstanceState.Running }
    const since = { createdAtMs: startedAtMs, startedAtMs, stateSinceMs: startedAtMs }
    return { ...fixed, ...since, startCount: 1, restartAttempt: 0, ...more }
  }

  /** Replaces the members of a service. */
  change(
    serviceUuid: string,
    change: (members: readonly AutoscaleMember[]) => readonly AutoscaleMember[],
  ): void {
    const service = this.services.get(serviceUuid)
    if (service === undefined) throw new Error(`there is no ${serviceUuid}`)
    this.services.set(serviceUuid, { ...service, members: change(service.members) })
  }

  watch(serviceUuid: string, more: Partial<WatchInput> = {}): Watched {
    const views: AutoscaleView[] = []
    const controller = new AbortController()
    const { signal } = controller
    const promise = this.observer.watch(
      { serviceUuid, ...more },
      { signal, onView: (view) => views.push(view) },
    )
    const watched: Watched = { views, controller, promise }
    promise.then(
      (result) => (watched.result = result),
      (error: unknown) => (watched.error = error),
    )
    return watched
  }

  async #read(uuids: readonly string[]): Promise<readonly AutoscaledService[]> {
    this.queries += 1
    if (this.database === 'fails') throw new Error('the database is away')
    while (this.database === 'hangs') await this.clock.delay(100)
    return uuids.flatMap((uuid) => this.services.get(uuid) ?? [])
  }
}
