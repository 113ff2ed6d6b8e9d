import type { ExitReport } from '../../src/domain/instance/exit-report.ts'
import { decide, nextDueMs } from '../../src/domain/standby/host-lease.ts'
import { noHostLease } from '../../src/domain/standby/host-lease-state.ts'
import { LeasePhase } from '../../src/domain/standby/host-lease-phase.ts'
import type {
  HostLeaseEffect,
  HostLeaseEvent,
  HostLeaseState,
  StandByOrder,
} from '../../src/domain/standby/host-lease-state.ts'
import { StandByRefusal } from '../../src/domain/instance/host-work.ts'
import { HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork } from '../../src/domain/instance/lifecycle-effects.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import type { StartReport } from '../../src/domain/instance/start-report.ts'
import { leaseKeptMs } from '../../src/domain/standby/lease-protocol.ts'
import {
  asleepBooks,
  exitOf,
  neverCameUp,
  permitOf,
  recoveredHostLease,
  Refused,
  reportOf,
  runs,
  sleptEvents,
  startEvents,
  stopEvents,
  stoppedBooks,
} from './simulated-books.ts'
import type { Books, Job } from './simulated-books.ts'
import { SimulatedCalls } from './simulated-calls.ts'
import type { SimulatedGateway, ToHost } from './simulated-gateway.ts'
import type { Simulation } from './simulation.ts'

/** A host with one instance: the machine of `host-lease.ts`. VM and books outlive the agent. */
export class SimulatedHost {
  /** Since when somebody may ask for it. */
  knownAtMs: number | undefined
  vm: { readonly boot: number; readonly memory: number } | undefined
  books: Books = { boot: 0, stoppedThrough: 0 }
  hostLease: HostLeaseState = noHostLease
  /** Boots that came up. */
  readonly cameUp = new Set<number>()
  #agent = 0
  #queue: Promise<unknown> = Promise.resolve()
  #job: Job | undefined
  #sleep: Promise<void> | undefined
  #stopAsked = 0
  readonly #standBys = new SimulatedCalls<StandByOrder>()
  readonly #drains = new SimulatedCalls<number>()
  #told: { boot: number; epoch: number } | undefined
  /** The next packet of a peer is noticed, and told of; no other is then. */
  #watched = false
  /** Calls that nobody will answer: their heartbeats fail with the agent. */
  readonly #deaths = new Set<() => void>()
  readonly #sim: Simulation

  constructor(sim: Simulation) {
    this.#sim = sim
  }

  get permit(): number | undefined {
    return permitOf(this.books)
  }

  /** A call that was under way when the agent died fails when its heartbeats are missed. */
  async perform(work: HostWork): Promise<readonly LifecycleEvent[]> {
    const agent = this.#agent
    let died: () => void = () => undefined
    const death = new Promise<never>((_, reject) => {
      died = () => {
        reject(new Error('the agent died'))
      }
    })
    this.#deaths.add(died)
    try {
      const result = await Promise.race([this.#perform(work), death])
      if (agent !== this.#agent) throw new Error('the agent died')
      return result
    } finally {
      this.#deaths.delete(died)
    }
  }

  async #perform(work: HostWork): Promise<readonly LifecycleEvent[]> {
    if (work.kind === HostWorkKind.Start) return this.#startByWorkflow(work.boot)
    if (work.kind === HostWorkKind.Stop) return this.#stop(work.boot, work.forced)
    if (work.kind === HostWorkKind.Remove) return this.#remove()
    if (work.kind === HostWorkKind.Drain) {
      return this.#drains.wait(work.boot, () => this.tell({ kind: 'drain', boot: work.boot }))
    }
    const { kind: _kind, ...order } = work
    const done = sleptEvents(this.books, order)
    if (done !== undefined) return done
    return this.#standBys.wait(order, () => this.tell({ kind: 'stand-by', ...order }))
  }

  /** Whether it got to the application. */
  peerSends(): boolean {
    if (this.vm !== undefined) return true
    if (!this.#watched) return false
    this.#watched = false
    this.tell({ kind: 'peers' })
    return false
  }

  /** What follows is told a little later, as files are deleted meanwhile. */
  async #watchForPeers(): Promise<void> {
    this.#watched = true
    await this.#pause(1, 20)
  }

  undrain(boot: number): void {
    this.tell({ kind: 'drain-cancelled', boot })
  }

  abandon(boot: number): void {
    if (this.#job?.boot === boot) this.#job.aborted = true
  }

  tell(event: HostLeaseEvent): void {
    const { state, effects } = decide(this.hostLease, event, this.#sim.time.nowMs)
    if (this.permit !== undefined || this.cameUp.size > 0) this.knownAtMs ??= this.#sim.time.nowMs
    this.hostLease = JSON.parse(JSON.stringify(state)) as HostLeaseState
    this.#sim.note(
      `host: ${JSON.stringify(event)} -> ${state.phase} boot ${state.boot} ${JSON.stringify(effects)}`,
    )
    for (const effect of effects) this.#carryOut(effect)
    const dueMs = nextDueMs(this.hostLease)
    const agent = this.#agent
    if (dueMs === undefined) return
    this.#sim.time.after(Math.max(1, dueMs - this.#sim.time.nowMs), () => {
      if (agent === this.#agent && nextDueMs(this.hostLease) === dueMs) this.tell({ kind: 'tick' })
    })
  }

  #carryOut(effect: HostLeaseEffect): void {
    if (effect.kind === 'opened' || effect.kind === 'refused') {
      this.#sim.toGateway(effect.gateway, effect)
    } else if (effect.kind === 'tell-gateway')
      this.#sim.toGateway(effect.gateway, { kind: effect.word, boot: effect.boot })
    else if (effect.kind === 'wake') {
      if (this.#job?.boot !== effect.boot) this.#newJob(effect.boot, true)
    } else if (effect.kind === 'sleep') {
      const agent = this.#agent
      const sleep = this.#goToSleep(effect.order, agent)
        .catch((error: unknown) => {
          if (agent !== this.#agent) return
          const reason = error instanceof Refused ? error.reason : StandByRefusal.NotRunning
          this.tell({ kind: 'stayed-awake', boot: effect.order.boot, reason })
        })
        .finally(() => {
          if (this.#sleep === sleep) this.#sleep = undefined
        })
      this.#sleep = sleep
    } else if (effect.kind === 'answer-stand-by') {
      this.#standBys.answer(
        ({ boot, permit }) => boot === effect.boot && permit === effect.permit,
        (order) => {
          const { boot, epoch } = order
          const reason = effect.refused ?? StandByRefusal.NotRunning
          const done = effect.refused === undefined ? sleptEvents(this.books, order) : undefined
          return done ?? [{ kind: EventKind.StandByRefused, boot, epoch, reason }]
        },
      )
    } else if (effect.kind === 'answer-drain') {
      this.#drains.answer(
        (boot) => boot === effect.boot,
        () => [{ kind: EventKind.ConnectionsClosed }],
      )
    } else if (effect.kind === 'tell-idle') {
      const { boot, epoch, sinceMs } = effect
      this.#told = { boot, epoch }
      this.#sim.signal({ kind: EventKind.Idle, boot, epoch, sinceMs }, () => this.#told?.epoch === epoch)
    } else if (effect.kind === 'tell-wake-failed' && this.#job?.byPermit === true) {
      this.#sim.signal({ kind: EventKind.WakeFailed, boot: effect.boot, message: effect.message })
    }
  }

  #inQueue<T>(work: () => Promise<T>): Promise<T> {
    const agent = this.#agent
    const run = this.#queue.then(async () => {
      if (agent !== this.#agent) throw new Error('the agent died')
      return work()
    })
    this.#queue = run.catch(() => undefined)
    return run
  }

  async #pause(fromMs: number, toMs: number): Promise<void> {
    const agent = this.#agent
    await this.#sim.time.pause(this.#sim.dice.within(fromMs, toMs))
    if (agent !== this.#agent) throw new Error('the agent died')
  }

  async #startByWorkflow(boot: number): Promise<readonly LifecycleEvent[]> {
    this.tell({ kind: 'drain-cancelled', boot })
    if (this.#job?.boot === boot && !this.#job.aborted) return this.#job.result
    if (this.#job !== undefined && this.#job.boot < boot) this.#job.aborted = true
    await this.#sleep
    return this.#newJob(boot, false).result
  }

  #newJob(boot: number, byPermit: boolean): Job {
    const job: Job = { boot, byPermit, aborted: false, result: this.#inQueue(() => this.#run(job)) }
    this.#job = job
    const over = (): void => {
      if (this.#job === job) this.#job = undefined
    }
    job.result.then(over, over)
    return job
  }

  async #run(job: Job): Promise<readonly LifecycleEvent[]> {
    const { boot } = job
    if (job.aborted) throw new Error('not wanted any more')
    try {
      return await this.#bringUp(job)
    } catch (error) {
      if ((error as Error).message !== 'the agent died') {
        if (this.permit === boot) await this.#watchForPeers()
        this.tell({ kind: 'start-failed', boot, failure: 'HostFull', message: (error as Error).message })
      }
      throw error
    }
  }

  async #bringUp(job: Job): Promise<readonly LifecycleEvent[]> {
    const { boot, byPermit } = job
    const books = { ...this.books }
    if (boot < books.boot || boot <= books.stoppedThrough) throw new Error(`boot ${boot} is over`)
    const known = startEvents(books, boot)
    if (known !== undefined) return known
    this.tell({ kind: 'start', boot })
    const wake = this.permit === boot
    if (this.vm !== undefined && !wake) this.#end({ cause: 'forced' })
    const sleep = wake ? books.sleep : undefined
    if (byPermit) this.#sim.signal({ kind: EventKind.Waking, boot, atMs: this.#sim.time.nowMs })
    this.books = { ...books, boot, started: undefined, exit: undefined, sleep }
    this.#watched = false
    await this.#pause(20, 400)
    if (job.aborted) throw new Error('not wanted any more')
    if (!this.#sim.quiet && this.#sim.dice.happens(this.#sim.faults.failedStarts))
      throw new Error('the host is full')
    this.#sim.check(this.vm === undefined, `boot ${boot} came up beside boot ${String(this.vm?.boot)}`)
    this.#sim.check(!this.cameUp.has(boot), `boot ${boot} came up twice`)
    this.cameUp.add(boot)
    const restored = sleep?.snapshotUuid !== undefined
    const memory = restored ? this.hostLease.memoryBoot : boot
    this.vm = { boot, memory }
    const kind = restored ? 'restore' : 'boot'
    const started: StartReport = { ...reportOf(boot, this.#sim.time.nowMs), kind }
    this.books = { ...this.books, started }
    this.tell({ kind: 'started', boot, start: kind, settings: this.#sim.scaleToZero, listens: true })
    const up: LifecycleEvent = { kind: EventKind.Started, report: started }
    if (byPermit) this.#sim.signal(up)
    return [up]
  }

  async #goToSleep(order: StandByOrder, agent: number): Promise<void> {
    const { boot, permit, stateful } = order
    await this.#inQueue(async () => {
      await this.#pause(1, 20)
      const ran =
        boot === 0
          ? this.books.boot === 0 && this.books.stoppedThrough < permit
          : runs(this.books) && this.books.boot === boot
      if (!ran || (boot !== 0 && this.#stopAsked >= boot)) throw new Refused(StandByRefusal.NotRunning)
      if (boot === 0) await this.#noteAsleep(order)
      else this.books = { ...this.books, sleep: { boot, permit, stateful } }
    })
    if (boot === 0) return
    await this.#pause(10, stateful ? 300 : this.hostLease.hurried ? 100 : 800)
    await this.#inQueue(async () => {
      await Promise.resolve()
      if (agent !== this.#agent) return
      if (!runs(this.books) || this.books.boot !== boot) throw new Refused(StandByRefusal.NotRunning)
      await this.#noteAsleep(order)
    })
  }

  async #noteAsleep(order: StandByOrder): Promise<void> {
    const { boot, stateful } = order
    if (boot !== 0) this.#sim.goesDown('sleeps')
    this.vm = undefined
    this.books = asleepBooks(this.books, order, this.#sim.time.nowMs)
    await this.#watchForPeers()
    this.tell({ kind: 'slept', boot, memoryKept: stateful && boot !== 0 })
  }

  async #stop(boot: number, forced: boolean): Promise<readonly LifecycleEvent[]> {
    this.#stopAsked = Math.max(this.#stopAsked, boot)
    this.tell({ kind: 'stop', boot })
    const job = this.#job
    if (job !== undefined && job.boot <= boot) {
      if (forced) job.aborted = true
      await job.result.catch(() => undefined)
    }
    await this.#sleep
    if (runs(this.books) && this.books.boot <= boot) {
      if (!forced) await this.#pause(10, 500)
      await this.#inQueue(async () => {
        await Promise.resolve()
        if (runs(this.books) && this.books.boot <= boot)
          this.#end({ cause: forced ? 'forced' : 'guest', exitCode: 0 })
      })
    }
    await this.#inQueue(async () => {
      await this.#pause(1, 10)
      if (neverCameUp(this.books, boot)) this.#end({ cause: 'forced', applicationStarted: false })
      this.books = stoppedBooks(this.books, boot)
      this.#watched &&= this.permit !== undefined
    })
    this.tell({ kind: 'stopped', boot })
    return stopEvents(this.books, boot)
  }

  async #remove(): Promise<readonly LifecycleEvent[]> {
    if (this.#job !== undefined) this.#job.aborted = true
    await this.#inQueue(async () => {
      await this.#pause(1, 50)
      if (this.vm !== undefined) this.#sim.goesDown('ends')
      this.vm = undefined
      this.#watched = false
      this.books = { boot: 0, stoppedThrough: Number.MAX_SAFE_INTEGER }
    })
    this.tell({ kind: 'remove' })
    return [{ kind: EventKind.Removed }]
  }

  /** The VM is over. */
  #end(how: Partial<ExitReport>): void {
    const { boot } = this.books
    this.#sim.goesDown('ends')
    this.vm = undefined
    const exit = exitOf(boot, this.#sim.time.nowMs, how)
    const { sleep } = this.books
    if (sleep?.boot === boot && sleep.atMs === undefined && this.#stopAsked < boot) {
      this.books = { ...this.books, exit, sleep: { ...sleep, atMs: exit.atMs, exit } }
      this.#watched = true
      this.tell({ kind: 'slept', boot, memoryKept: false })
      return
    }
    const past = sleep?.atMs === undefined ? undefined : sleep
    this.books = { ...this.books, exit, sleep: past }
    this.tell({ kind: 'exited', boot })
    this.#sim.signal({ kind: EventKind.Exited, exit })
  }

  /** The application ends by itself. */
  crash(): void {
    void this.#inQueue(async () => {
      await Promise.resolve()
      if (runs(this.books) && this.vm !== undefined) this.#end({ cause: 'guest', exitCode: 1 })
    }).catch(() => undefined)
  }

  lineBroken({ name, lostAtMs }: SimulatedGateway): void {
    const isKnown = this.hostLease.leases.some(({ gateway }) => gateway === name)
    if (isKnown) this.tell({ kind: 'lost', gateway: name, keptUntilMs: lostAtMs + leaseKeptMs })
  }

  hear(gateway: SimulatedGateway, message: ToHost): void {
    const { name } = gateway
    if (message.kind === 'hello') {
      this.#sim.toGateway(name, { kind: 'welcome' })
      const isKnown = this.hostLease.leases.some((lease) => lease.gateway === name)
      if (message.held !== undefined) this.tell({ kind: 'hello', gateway: name, held: message.held })
      else if (isKnown) this.tell({ kind: 'hello', gateway: name })
    } else if (message.kind === 'idle') {
      this.tell({ ...message, kind: 'returned', gateway: name })
    } else if (message.kind === 'open') this.tell({ ...message, gateway: name, ports: [80] })
    else this.tell({ ...message, gateway: name })
  }

  /** The agent is killed and started again: what `recovery.ts` makes of the books. */
  restart(): void {
    this.#agent += 1
    for (const died of this.#deaths) died()
    this.#deaths.clear()
    this.#queue = Promise.resolve()
    this.#job = undefined
    this.#sleep = undefined
    this.#standBys.forget()
    this.#drains.forget()
    this.#told = undefined
    this.#stopAsked = 0
    for (const gateway of this.#sim.gateways) gateway.breakLine()
    const { books, vm } = this
    const { scaleToZero: settings, time } = this.#sim
    this.hostLease = recoveredHostLease({ books, vm, settings, nowMs: time.nowMs })
    // Where it had not got to standby the order is taken back, or carried out by another.
    if (books.sleep !== undefined && books.sleep.atMs === undefined)
      this.books = { ...books, sleep: undefined }
    this.tell({ kind: 'tick' })
    this.#watched = this.hostLease.phase === LeasePhase.Asleep
  }
}
