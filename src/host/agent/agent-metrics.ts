import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { ExitCause } from '../../domain/instance/exit-report.ts'
import { HostFailure, StandByRefusal } from '../../domain/instance/host-work.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { AgentObserver } from './agent-ports.ts'
import type { NetworkLoad } from '../network/network.ts'
import type { MemoryReading } from '../vmm/vmm.ts'
import type { VolumeRoom } from '../volumes/volumes.ts'
import { isHeldBack } from '../instance/entry.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { permitOf, runs } from '../instance/record.ts'

/**
 * The buckets of start times. They reach from a restore (0.1 s) to a boot on an overloaded machine, and are
 * finer around the times that the project aims at.
 */
const startBucketsSeconds = [0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.3, 1.7, 2.5, 5, 10, 30]
const prepareBucketsSeconds = [0.005, 0.01, 0.02, 0.03, 0.06, 0.1, 0.25, 1, 5, 30]

const mebibyte = 1024 * 1024

/** Sources that are read only when the metrics are read. */
export interface MetricSources {
  readonly volumeRoom?: () => Promise<VolumeRoom>
  readonly memory?: () => MemoryReading | undefined
  /** Why the agent accepts no work now; undefined if it does. */
  readonly notReady?: () => string | undefined
}

/** The agent's own Prometheus metrics. The API shows the metrics of instances. */
export class AgentMetrics implements AgentObserver {
  readonly registry = new Registry()
  readonly #starts = new Counter({
    name: 'roost_agent_starts_total',
    help: 'Starts that reached their application, by kind.',
    labelNames: ['kind'],
    registers: [this.registry],
  })
  readonly #failures = new Counter({
    name: 'roost_agent_start_failures_total',
    help: 'Starts that failed, by failure.',
    labelNames: ['failure'],
    registers: [this.registry],
  })
  readonly #ends = new Counter({
    name: 'roost_agent_ends_total',
    help: 'Boots that ended, by cause.',
    labelNames: ['cause'],
    registers: [this.registry],
  })
  readonly #bootSeconds = new Histogram({
    name: 'roost_agent_boot_seconds',
    help: 'From the start of the VMM to the entry of the application, by kind of start.',
    labelNames: ['kind'],
    buckets: startBucketsSeconds,
    registers: [this.registry],
  })
  readonly #prepareSeconds = new Histogram({
    name: 'roost_agent_prepare_seconds',
    help: 'From the request of a start to the start of the VMM: launch spec, image, address.',
    buckets: prepareBucketsSeconds,
    registers: [this.registry],
  })
  readonly #turnSeconds = new Histogram({
    name: 'roost_agent_turn_wait_seconds',
    help: 'How long starts, wakes and checks of volumes waited for the turn of their user. Those that did not wait are left out.',
    buckets: startBucketsSeconds,
    registers: [this.registry],
  })
  readonly #wakeSeconds = new Histogram({
    name: 'roost_agent_wake_seconds',
    help: 'From the use of the permit to the entry of the application, by kind of start.',
    labelNames: ['kind'],
    buckets: startBucketsSeconds,
    registers: [this.registry],
  })
  readonly #wakeFailures = new Counter({
    name: 'roost_agent_wake_failures_total',
    help: 'Wakes that failed, by failure.',
    labelNames: ['failure'],
    registers: [this.registry],
  })
  readonly #sleeps = new Counter({
    name: 'roost_agent_standbys_total',
    help: 'Instances that went to standby, with their memory (stateful) or without (cold).',
    labelNames: ['kind'],
    registers: [this.registry],
  })
  readonly #refusals = new Counter({
    name: 'roost_agent_standby_refusals_total',
    help: 'Orders to stand by that were refused, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  })

  readonly #stalls = new Counter({
    name: 'roost_agent_stalls_total',
    help: "How often a VM began to stand still because the host's disk was full.",
    registers: [this.registry],
  })

  constructor(entries: ReadonlyMap<string, InstanceEntry>, sources: MetricSources = {}) {
    collectDefaultMetrics({ register: this.registry })
    this.#beginAtZero()
    const vms: Gauge = new Gauge({
      name: 'roost_agent_instances',
      help: 'Instances that this host knows, by what they do.',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        const counts = { starting: 0, running: 0, standby: 0, ended: 0 }
        for (const entry of entries.values()) counts[stateOf(entry)] += 1
        for (const [state, count] of Object.entries(counts)) vms.set({ state }, count)
      },
    })
    const leases: Gauge = new Gauge({
      name: 'roost_agent_leases',
      help: 'Leases of gateways, by status; waiting ones ask for an instance that is not up.',
      labelNames: ['status'],
      registers: [this.registry],
      collect: () => {
        const counts = { waiting: 0, held: 0 }
        for (const { hostLease } of entries.values()) {
          for (const { status } of hostLease.leases) if (status !== 'returned') counts[status] += 1
        }
        for (const [status, count] of Object.entries(counts)) leases.set({ status }, count)
      },
    })
    const stalled: Gauge = new Gauge({
      name: 'roost_agent_stalled_instances',
      help: "VMs that stand still because the host's disk is full.",
      registers: [this.registry],
      collect: () => {
        stalled.set([...entries.values()].filter(({ stalledSinceMs }) => stalledSinceMs !== undefined).length)
      },
    })
    const heldBack: Gauge = new Gauge({
      name: 'roost_agent_held_back_instances',
      help: 'Instances that stay awake only because instances of their user have fallen asleep as often as they may for now.',
      registers: [this.registry],
      collect: () => {
        heldBack.set([...entries.values()].filter(isHeldBack).length)
      },
    })
    const { volumeRoom, memory, notReady } = sources
    if (notReady !== undefined) this.#showReady(notReady)
    if (volumeRoom !== undefined) this.#showRoom(volumeRoom)
    if (memory !== undefined) this.#showMemory(memory)
  }

  /** A counter that begins with its first event hides that event from readers of its increase. */
  #beginAtZero(): void {
    for (const kind of Object.values(StartKind)) {
      this.#starts.inc({ kind }, 0)
      this.#wakeSeconds.zero({ kind })
    }
    for (const failure of Object.values(HostFailure)) {
      this.#failures.inc({ failure }, 0)
      this.#wakeFailures.inc({ failure }, 0)
    }
    for (const cause of Object.values(ExitCause)) this.#ends.inc({ cause }, 0)
    for (const reason of Object.values(StandByRefusal)) this.#refusals.inc({ reason }, 0)
    for (const kind of ['stateful', 'cold']) this.#sleeps.inc({ kind }, 0)
  }

  #showReady(notReady: () => string | undefined): void {
    const ready: Gauge = new Gauge({
      name: 'roost_agent_ready',
      help: '1 if the agent takes work, else 0: it has begun just now, or Temporal can not be reached.',
      registers: [this.registry],
      collect: () => ready.set(notReady() === undefined ? 1 : 0),
    })
  }

  #showMemory(memory: () => MemoryReading | undefined): void {
    const gauge: Gauge = new Gauge({
      name: 'roost_agent_memory_bytes',
      help: 'Memory of this host: all (total), kept for the platform (reserve), what VMs may be promised (limit), what they are counted with (instances), what templates hold (templates).',
      labelNames: ['of'],
      registers: [this.registry],
      collect: () => {
        const known = memory()
        gauge.reset()
        if (known === undefined) return
        gauge.set({ of: 'total' }, known.host.totalMb * mebibyte)
        gauge.set({ of: 'reserve' }, known.host.reserveMb * mebibyte)
        gauge.set({ of: 'limit' }, known.limitMb * mebibyte)
        gauge.set({ of: 'instances' }, known.instancesMb * mebibyte)
        gauge.set({ of: 'templates' }, known.templatesMb * mebibyte)
      },
    })
    const refusals: Counter = new Counter({
      name: 'roost_agent_memory_refusals_total',
      help: 'Starts that were refused because their memory did not fit.',
      registers: [this.registry],
      collect: () => {
        refusals.reset()
        refusals.inc(memory()?.refusals ?? 0)
      },
    })
  }

  /**
   * Adds the network's metrics. They come later than the others, because the network is made after this
   * object. Both metrics share one reading, because each reading starts a process.
   */
  showNetwork(load: () => Promise<NetworkLoad | undefined>): void {
    let reading: Promise<NetworkLoad | undefined> | undefined
    const read = async (): Promise<NetworkLoad | undefined> => {
      reading ??= load()
        .catch(() => undefined)
        .finally(() => (reading = undefined))
      return await reading
    }
    const flows: Gauge = new Gauge({
      name: 'roost_agent_host_flows',
      help: "Entries of the host's connection table (used), and how many it has room for (max).",
      labelNames: ['of'],
      registers: [this.registry],
      collect: async () => {
        const known = await read()
        flows.reset()
        if (known === undefined) return
        flows.set({ of: 'used' }, known.flows)
        flows.set({ of: 'max' }, known.maxFlows)
      },
    })
    const dropped: Counter = new Counter({
      name: 'roost_agent_dropped_packets_total',
      help: 'Packets of instances that were dropped, by the bound that they went over: flows that are open, flows opened per second, bytes per second.',
      labelNames: ['bound'],
      registers: [this.registry],
      collect: async () => {
        const known = await read()
        dropped.reset()
        for (const [bound, packets] of Object.entries(known?.dropped ?? {})) dropped.inc({ bound }, packets)
      },
    })
  }

  /** Shows how long the host's term lasts. Without a term the metric has no value. */
  showTerm(secondsLeft: () => number | undefined): void {
    const left: Gauge = new Gauge({
      name: 'roost_agent_term_seconds',
      help: 'How long this host may run its instances without a further answer of the API. Absent if there is no such term.',
      registers: [this.registry],
      collect: () => {
        const known = secondsLeft()
        if (known === undefined) left.remove()
        else left.set(known)
      },
    })
  }

  #showRoom(room: () => Promise<VolumeRoom>): void {
    const volumes: Gauge = new Gauge({
      name: 'roost_agent_volumes',
      help: 'Volumes on this host, including those that are being made or erased.',
      registers: [this.registry],
      collect: async () => {
        volumes.set((await room().catch(() => undefined))?.volumes ?? Number.NaN)
      },
    })
    const gauge: Gauge = new Gauge({
      name: 'roost_agent_volume_room_bytes',
      help: 'Room for volumes: what they may promise together (total), what those here promise (promised), and what the disk has in all (disk) and left (free).',
      labelNames: ['of'],
      registers: [this.registry],
      collect: async () => {
        const known = await room().catch(() => undefined)
        gauge.reset()
        if (known === undefined) return
        gauge.set({ of: 'total' }, known.totalMb * mebibyte)
        gauge.set({ of: 'promised' }, known.promisedMb * mebibyte)
        gauge.set({ of: 'free' }, known.freeMb * mebibyte)
        gauge.set({ of: 'disk' }, known.diskMb * mebibyte)
      },
    })
  }

  started(report: StartReport, prepareMs: number): void {
    this.#starts.inc({ kind: report.kind })
    this.#bootSeconds.observe({ kind: report.kind }, report.bootTimeUs / 1e6)
    this.#prepareSeconds.observe(prepareMs / 1e3)
  }

  startFailed(failure: string): void {
    this.#failures.inc({ failure })
  }

  waited(waitedMs: number): void {
    this.#turnSeconds.observe(waitedMs / 1e3)
  }

  ended(cause: string): void {
    this.#ends.inc({ cause })
  }

  woke(kind: StartKind, wakeMs: number): void {
    this.#wakeSeconds.observe({ kind }, wakeMs / 1e3)
  }

  wakeFailed(failure: string): void {
    this.#wakeFailures.inc({ failure })
  }

  slept(stateful: boolean): void {
    this.#sleeps.inc({ kind: stateful ? 'stateful' : 'cold' })
  }

  standByRefused(reason: string): void {
    this.#refusals.inc({ reason })
  }

  stalled(): void {
    this.#stalls.inc()
  }
}

function stateOf(entry: InstanceEntry): 'starting' | 'running' | 'standby' | 'ended' {
  if (entry.job !== undefined) return 'starting'
  if (permitOf(entry.record) !== undefined) return 'standby'
  return runs(entry.record) ? 'running' : 'ended'
}
