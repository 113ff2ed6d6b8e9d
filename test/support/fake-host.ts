import { Context } from '@temporalio/activity'
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { ExitCause } from '../../src/domain/instance/exit-report.ts'
import type { ExitReport } from '../../src/domain/instance/exit-report.ts'
import { StandByRefusal } from '../../src/domain/instance/host-work.ts'
import type {
  FetchResult,
  HostActivities,
  HostFailure,
  MoveActivities,
  MovedVolume,
  StandByResult,
} from '../../src/domain/instance/host-work.ts'
import { StartKind } from '../../src/domain/instance/start-report.ts'
import type { StartReport } from '../../src/domain/instance/start-report.ts'

/** A call to the host. */
export type HostCall = {
  readonly call:
    | 'start'
    | 'stop'
    | 'remove'
    | 'stand-by'
    | 'drain'
    | 'change'
    | 'offer'
    | 'copy'
    | 'hold'
    | 'release'
    | 'fetch'
    | 'take'
  readonly boot?: number
  readonly forced?: boolean
}

export interface StandByOrder {
  readonly boot: number
  readonly epoch: number
  readonly permit: number
  readonly stateful: boolean
}

export interface FakeHostOptions {
  readonly nowMs: () => number | Promise<number>
  /** How a boot ends by itself right after it came up. Undefined: it goes on running. */
  readonly endOf?: (boot: number) => Partial<ExitReport> | undefined
  readonly failureOf?: (boot: number) => HostFailure | undefined
  /** Makes a start wait for a promise. A start that is cancelled ends early. */
  readonly startGate?: (boot: number) => Promise<void> | undefined
  readonly stopGate?: (boot: number) => Promise<void> | undefined
  /** Makes an order to stand by wait for a promise. */
  readonly standByGate?: (boot: number) => Promise<void> | undefined
  /** Makes the answer to an order to stand by wait for a promise, after the order was carried out. */
  readonly standByAnswerGate?: (boot: number) => Promise<void> | undefined
  /** What a fetch answers. An error fails it. Absent: all is fetched, with the memory. */
  readonly fetches?: () => FetchResult | Error
  /** Whether its agent has a version that moves no instances, so that it does not know the calls. */
  readonly isEarlier?: boolean
  /** Whether it has one that moves instances, but no volumes, so that it leaves them behind. */
  readonly leavesVolumes?: boolean
  /** Whether it has one that copies no volume while its instance runs, so that it does not know the calls. */
  readonly copiesNothing?: boolean
  /** Makes a copy of a volume wait for a promise. If that rejects, the copy fails. */
  readonly copyGate?: () => Promise<void> | undefined
  /** Makes a fetch wait for a promise. */
  readonly fetchGate?: () => Promise<void> | undefined
  /** Fails an order to stand by. */
  readonly standByFails?: () => Error | undefined
  readonly standByRefusal?: (boot: number) => StandByRefusal | undefined
  /** The boot has connections that close when the promise resolves. Undefined: it has none. */
  readonly drainGate?: (boot: number) => Promise<void> | undefined
}

/** `HostActivities` for one instance on a fake host. Its VMs are entries of a set. */
export class FakeHost {
  readonly calls: HostCall[] = []
  readonly running = new Set<number>()
  /** Boots that were running while another one started. It must stay empty. */
  readonly overlaps: number[] = []
  /**
   * The exit reports of the boots that `endUnheard` ended. A repeated start of such a boot is answered with
   * its report.
   */
  readonly #ends = new Map<number, ExitReport>()
  /** Whether the instance is held here, because it moves. */
  isHeld = false
  /** Whether the volume is offered here, so that another host may copy it. */
  isOffered = false
  /** The boots whose copy the workflow called off. */
  readonly copiesCalledOff: number[] = []
  /** The volumes that it was to fetch, or to hold for a move. */
  readonly volumes: MovedVolume[] = []
  /** The permit that was fetched, until the instance is taken. */
  #fetched: number | undefined
  readonly activities: HostActivities & MoveActivities
  readonly #options: FakeHostOptions
  readonly orders: StandByOrder[] = []
  /** The changes of the configuration of which the workflow told. */
  readonly changes: Parameters<HostActivities['changeInstance']>[0][] = []
  /** The version of the configuration with which a boot is launched. */
  version: number | undefined
  /** The boots whose drain the workflow called off. */
  readonly drainsCalledOff: number[] = []
  /** The boots whose order to stand by the workflow called off. */
  readonly ordersCalledOff: number[] = []
  /** The boot that the host may start by itself. */
  permit: number | undefined
  /** The answers to orders to stand by, under boot and permit. A repeated order gets the same answer. */
  readonly #sleeps = new Map<string, StandByResult>()
  #isSetUpAnew = false

  constructor(options: FakeHostOptions) {
    this.#options = options
    this.activities = {
      startInstance: (input) => this.#start(input.boot),
      stopInstance: (input) => this.#stop(input.boot, input.forced),
      removeInstance: () => this.#remove(),
      standByInstance: (input) => this.#standBy(input),
      changeInstance: (input) => {
        this.calls.push({ call: 'change' })
        this.changes.push(input)
        this.version = input.version
        return Promise.resolve({ renewed: input.renew && this.permit !== undefined })
      },
      drainInstance: async ({ boot }) => {
        this.calls.push({ call: 'drain', boot })
        await orCalledOff(this.#options.drainGate?.(boot), () => this.drainsCalledOff.push(boot))
      },
      offerVolume: async ({ boot }) => {
        this.calls.push({ call: 'offer', boot })
        this.#requireKnown('offerVolume', this.#options.copiesNothing)
        if (!this.running.has(boot)) return { offered: false }
        this.isOffered = true
        return { offered: true, port: 40_001 }
      },
      copyVolume: async ({ boot }) => {
        this.calls.push({ call: 'copy', boot })
        this.#requireKnown('copyVolume', this.#options.copiesNothing)
        await orCalledOff(this.#options.copyGate?.(), () => this.copiesCalledOff.push(boot))
      },
      holdInstance: async ({ boot, permit, volume }) => {
        if (volume !== undefined) this.volumes.push(volume)
        return this.#hold(boot, permit)
      },
      releaseInstance: async () => {
        this.calls.push({ call: 'release' })
        this.#requireKnown('releaseInstance')
        this.isHeld = false
        this.isOffered = false
      },
      fetchInstance: async (input) => this.#fetch(input),
      takeInstance: async () => {
        this.calls.push({ call: 'take' })
        this.#take()
      },
    }
  }

  /**
   * Starts the permitted boot, as a host does for traffic. The test itself sends the workflow the events of
   * this start.
   */
  async wake(): Promise<StartReport> {
    const boot = this.permit
    if (this.isHeld) throw new Error('the fake host holds the instance')
    if (boot === undefined) throw new Error('the fake host has no permit')
    this.#comeUp(boot)
    return startReport(boot, await this.#options.nowMs())
  }

  /** Makes the host lose everything, like a machine with a new disk. */
  setUpAnew(): void {
    this.running.clear()
    this.#sleeps.clear()
    this.permit = undefined
    this.#isSetUpAnew = true
  }

  /** The failure of Temporal's worker for an activity that it does not have. */
  #requireKnown(call: string, isUnknown = false): void {
    if (this.#options.isEarlier !== true && !isUnknown) return
    const message = `Activity function ${call} is not registered on this Worker`
    throw ApplicationFailure.create({ type: 'NotFoundError', message })
  }

  #hold(boot: number, permit: number | undefined): Awaited<ReturnType<MoveActivities['holdInstance']>> {
    this.calls.push({ call: 'hold', boot })
    this.#requireKnown('holdInstance')
    if (this.running.size > 0 || this.permit !== permit) return { held: false }
    this.isHeld = true
    return { held: true, port: 40_000 }
  }

  async #fetch({
    boot,
    permit,
    volume,
  }: Parameters<MoveActivities['fetchInstance']>[0]): Promise<FetchResult> {
    this.calls.push({ call: 'fetch', boot })
    if (volume !== undefined) this.volumes.push(volume)
    this.#requireKnown('fetchInstance')
    await orCancelled(this.#options.fetchGate?.())
    const result = this.#options.fetches?.() ?? { memory: 'kept' }
    if (result instanceof Error) throw result
    this.#fetched = permit
    this.isHeld = true
    const isFetched = volume !== undefined && this.#options.leavesVolumes !== true
    return { ...result, ...(isFetched && { volumeUuid: volume.uuid }) }
  }

  #take(): void {
    this.isHeld = false
    this.permit = this.#fetched ?? this.permit
    this.#fetched = undefined
  }

  #comeUp(boot: number): void {
    if (this.running.size > 0) this.overlaps.push(...this.running)
    this.running.add(boot)
    if (boot === this.permit) this.permit = undefined
  }

  async #standBy(order: Parameters<HostActivities['standByInstance']>[0]): Promise<StandByResult> {
    const { boot, epoch, permit, stateful, drainMs } = order
    this.calls.push({ call: 'stand-by', boot })
    this.orders.push({ boot, epoch, permit, stateful, ...(drainMs === undefined ? {} : { drainMs }) })
    const failure = this.#options.standByFails?.()
    if (failure !== undefined) throw failure
    const name = `${boot} ${permit}`
    await orCalledOff(this.#options.standByGate?.(boot), () => this.ordersCalledOff.push(boot))
    const done = this.#sleeps.get(name)
    if (done !== undefined) return done
    const reason = this.#options.standByRefusal?.(boot)
    if (reason !== undefined) return { slept: false, reason }
    const isLeftAnew = epoch === 0 && this.#isSetUpAnew
    if (boot !== 0 && !isLeftAnew && !this.running.delete(boot))
      return { slept: false, reason: StandByRefusal.NotRunning }
    const atMs = await this.#options.nowMs()
    const left = stateful
      ? { snapshotUuid: `snapshot-of-${boot}` }
      : { exit: exitReport(boot, atMs, { exitCode: 0 }) }
    const slept: StandByResult = { slept: true, atMs, ...(boot === 0 || isLeftAnew ? {} : left) }
    this.#sleeps.set(name, slept)
    this.permit = permit
    this.isHeld = order.hold !== undefined
    this.isOffered = false
    await orCancelled(this.#options.standByAnswerGate?.(boot))
    return slept
  }

  #launched(report: StartReport): StartReport {
    return this.version === undefined ? report : { ...report, configVersion: this.version }
  }

  /** Ends a VM without a report to the workflow. */
  async endUnheard(boot: number, end: Partial<ExitReport>): Promise<void> {
    this.running.delete(boot)
    this.#ends.set(boot, exitReport(boot, await this.#options.nowMs(), end))
  }

  async #start(boot: number): Promise<{ started: StartReport; exit?: ExitReport }> {
    this.calls.push({ call: 'start', boot })
    this.#take()
    const ended = this.#ends.get(boot)
    if (ended !== undefined) return { started: startReport(boot, ended.atMs), exit: ended }
    if (this.running.has(boot)) return { started: startReport(boot, await this.#options.nowMs()) }
    await orCancelled(this.#options.startGate?.(boot))
    const type = this.#options.failureOf?.(boot)
    if (type !== undefined)
      throw ApplicationFailure.create({ type, message: `fake ${type}`, nonRetryable: true })
    const startedAtMs = await this.#options.nowMs()
    const started = this.#launched(startReport(boot, startedAtMs))
    const end = this.#options.endOf?.(boot)
    if (end === undefined) {
      this.#comeUp(boot)
      return { started }
    }
    return { started, exit: exitReport(boot, startedAtMs, end) }
  }

  async #stop(boot: number, forced: boolean): Promise<{ exit?: ExitReport }> {
    this.calls.push({ call: 'stop', boot, forced })
    this.#take()
    if (!forced) await orCancelled(this.#options.stopGate?.(boot))
    if (this.permit !== undefined && this.permit <= boot) this.permit = undefined
    const ended = [...this.running].find((each) => each <= boot)
    if (ended === undefined) return {}
    this.running.delete(ended)
    const end = forced ? { cause: ExitCause.Forced } : { exitCode: 0 }
    return { exit: exitReport(ended, await this.#options.nowMs(), end) }
  }

  async #remove(): Promise<void> {
    this.calls.push({ call: 'remove' })
    this.isHeld = false
    this.running.clear()
    this.permit = undefined
    return Promise.resolve()
  }
}

/**
 * `HostActivities` for all instances. Each has a `FakeHost` of its own, with the `behaviour` at the time of
 * its first call.
 */
export class FakeHosts {
  behaviour: Omit<FakeHostOptions, 'nowMs'> = {}
  readonly byInstance = new Map<string, FakeHost>()

  of(instanceUuid: string): FakeHost {
    const host = this.byInstance.get(instanceUuid) ?? new FakeHost({ nowMs: Date.now, ...this.behaviour })
    this.byInstance.set(instanceUuid, host)
    return host
  }

  readonly activities: HostActivities = {
    startInstance: (input) => this.of(input.instanceUuid).activities.startInstance(input),
    stopInstance: (input) => this.of(input.instanceUuid).activities.stopInstance(input),
    removeInstance: (input) => this.of(input.instanceUuid).activities.removeInstance(input),
    standByInstance: (input) => this.of(input.instanceUuid).activities.standByInstance(input),
    drainInstance: (input) => this.of(input.instanceUuid).activities.drainInstance(input),
    changeInstance: (input) => this.of(input.instanceUuid).activities.changeInstance(input),
  }
}

export function startReport(boot: number, startedAtMs: number): StartReport {
  return {
    boot,
    kind: StartKind.Boot,
    startedAtMs,
    bootTimeUs: 30_000,
    vmmStartTimeUs: 1_000,
    vmmLoadTimeUs: 2_000,
    vmmReadyTimeUs: 3_000,
  }
}

export function exitReport(boot: number, atMs: number, end: Partial<ExitReport> = {}): ExitReport {
  return { boot, cause: ExitCause.Guest, applicationStarted: true, atMs, ...end }
}

const beatMs = 100

async function orCancelled(gate: Promise<void> | undefined): Promise<void> {
  if (gate === undefined) return
  const context = Context.current()
  const beat = setInterval(() => {
    context.heartbeat()
  }, beatMs)
  try {
    await Promise.race([gate, context.cancelled])
  } catch (error) {
    if (error instanceof CancelledFailure) throw error
    throw error
  } finally {
    clearInterval(beat)
  }
}

/** Like `orCancelled`. Tells if the workflow called the work off, and not a worker that ended. */
async function orCalledOff(gate: Promise<void> | undefined, calledOff: () => void): Promise<void> {
  try {
    await orCancelled(gate)
  } catch (error) {
    if (Context.current().cancellationDetails?.cancelRequested === true) calledOff()
    throw error
  }
}
