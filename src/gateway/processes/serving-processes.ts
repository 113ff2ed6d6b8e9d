import { setTimeout as delay } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { RouteLine } from '../../domain/service/route-feed.ts'
import { nextPause } from '../../primitives/restart-pause.ts'
import type { EndsInRow } from '../../primitives/restart-pause.ts'
import type { GatewayLog } from '../gateway.ts'
import type { MetroCertificate } from '../listeners/server-contexts.ts'
import type { TicketSecret } from '../listeners/ticket-secret.ts'
import type { RouteTable } from '../route-table.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import type { TrafficOfServices } from '../service-counts.ts'
import type { BlockListener } from './block-sink.ts'
import { closeGraceMs } from './messages.ts'
import type { Metric, ToServing } from './messages.ts'
import { onlyCounts, sumOfMetrics } from './metric-sum.ts'
import { ServiceTotals } from './service-totals.ts'
import { ServingProcess } from './serving-process.ts'

export interface ServingProcessesOptions {
  readonly processes: number
  /** The file of a serving process. */
  readonly program: string
  readonly table: RouteTable
  readonly metro: MetroCertificate
  /** What the gateway shows to hosts on other machines. Absent: there are none. */
  readonly identity?: { readonly current: PartIdentity | undefined }
  readonly ticketSecret: TicketSecret
  readonly routesAgeMs: () => number
  /** The metrics of the main process itself. */
  readonly registry: Registry
  readonly log: GatewayLog
}

/** How long a process may take to tell its metrics. Who reads them usually waits for ten seconds. */
const metricsLimitMs = 2_000
/** The time between two looks at the secret of tickets, which is renewed twice a day. */
const secretLookMs = 60_000
/** How long a process may take for its end beside the grace of its connections. Then it is killed. */
const endSlackMs = 500

/**
 * The serving processes of a gateway. All of them listen on the public ports, and the kernel gives each new
 * connection to one of them. One that ends is started again; the others go on.
 */
export class ServingProcesses implements BlockListener {
  readonly #options: ServingProcessesOptions
  /** By place. A place is empty while its process waits to be started again. */
  readonly #running = new Map<number, ServingProcess>()
  readonly #ending = new AbortController()
  readonly #secretLook: NodeJS.Timeout
  #ticketSecret: Buffer
  /** What was counted of each service, also by processes that have ended. */
  readonly services: ServiceTotals
  /** The counters and histograms of processes that have ended. */
  #counts: readonly Metric[] = []

  constructor(options: ServingProcessesOptions) {
    this.#options = options
    this.services = new ServiceTotals(options.table)
    this.#ticketSecret = options.ticketSecret.current
    this.#secretLook = setInterval(() => this.#tellNewSecret(), secretLookMs)
    for (let place = 1; place <= options.processes; place++) this.#start(place, undefined)
  }

  /** Why not all processes serve yet; undefined once they do. */
  get notReady(): string | undefined {
    const ready = [...this.#running.values()].filter(({ isReady }) => isReady).length
    const { processes } = this.#options
    return ready === processes ? undefined : `${ready} of ${processes} serving processes have begun`
  }

  block(lines: readonly RouteLine[]): void {
    for (const { routes } of this.#running.values()) routes.add(lines)
    this.services.applied(lines)
  }

  heard(): void {
    for (const serving of this.#running.values()) serving.sendUnlessBehind({ kind: 'heard', agoMs: 0 })
  }

  metroChanged(): void {
    this.#tell({ kind: 'metro', certificate: this.#options.metro.current })
  }

  identityChanged(): void {
    const identity = this.#options.identity?.current
    if (identity !== undefined) this.#tell({ kind: 'identity', identity })
  }

  /** The metrics of all processes, in the Prometheus format. A process that is stuck is left out. */
  async metrics(): Promise<string> {
    const own = await this.#options.registry.getMetricsAsJSON()
    const told = await Promise.all([...this.#running.values()].map((one) => one.metrics(metricsLimitMs)))
    return await sumOfMetrics([own, ...told, this.#counts]).metrics()
  }

  /** Has all processes listen no more, and waits until they have ended. `end` hastens it. */
  async drain(limitMs: number): Promise<void> {
    this.#stopRestarts()
    this.#tell({ kind: 'drain', limitMs })
    await this.#ended(limitMs + closeGraceMs + endSlackMs)
  }

  async end(): Promise<void> {
    this.#stopRestarts()
    this.#tell({ kind: 'end' })
    await this.#ended(closeGraceMs + endSlackMs)
  }

  #start(place: number, ends: EndsInRow | undefined): void {
    const { program, table, metro, identity, routesAgeMs, log } = this.#options
    const onServiceCounts = (counts: TrafficOfServices): void => this.services.add(counts)
    const serving = new ServingProcess(program, place, { table, onServiceCounts })
    this.#running.set(place, serving)
    void serving.send({ kind: 'metro', certificate: metro.current })
    if (identity?.current !== undefined) void serving.send({ kind: 'identity', identity: identity.current })
    void serving.send({ kind: 'ticket-secret', secret: this.#ticketSecret })
    void serving.send({ kind: 'heard', agoMs: routesAgeMs() })
    void serving.routes.start().then(async () => await serving.send({ kind: 'listen' }))
    void serving.exited.then(async (how) => {
      this.#running.delete(place)
      if (this.#ending.signal.aborted) return
      await this.#keepCounts(serving)
      // The first time the place is filled at once, because the other processes have its load meanwhile.
      const next = nextPause(ends, performance.now() - serving.startedMs, { firstAtOnce: true })
      log.warn({ serving: place, ...next }, `a serving process ended with ${how}; it is started again`)
      await delay(next.pauseMs, undefined, { signal: this.#ending.signal }).catch(() => undefined)
      if (!this.#ending.signal.aborted) this.#start(place, next)
    })
  }

  async #keepCounts({ counts }: ServingProcess): Promise<void> {
    if (counts.length === 0) return
    this.#counts = onlyCounts(await sumOfMetrics([this.#counts, counts]).getMetricsAsJSON())
  }

  #tell(message: ToServing): void {
    for (const serving of this.#running.values()) void serving.send(message)
  }

  #tellNewSecret(): void {
    const { current } = this.#options.ticketSecret
    if (current === this.#ticketSecret) return
    this.#ticketSecret = current
    this.#tell({ kind: 'ticket-secret', secret: current })
  }

  #stopRestarts(): void {
    this.#ending.abort()
    clearInterval(this.#secretLook)
  }

  async #ended(limitMs: number): Promise<void> {
    const all = [...this.#running.values()]
    const late = setTimeout(() => all.forEach((serving) => serving.kill()), limitMs)
    await Promise.all(all.map(({ exited }) => exited))
    clearTimeout(late)
  }
}
