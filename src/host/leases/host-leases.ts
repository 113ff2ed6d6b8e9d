import { nextDueMs, decide } from '../../domain/standby/host-lease.ts'
import { LeasePhase } from '../../domain/standby/host-lease-phase.ts'
import { awakeState } from '../../domain/instance/awake.ts'
import type { AwakeInstances } from '../../domain/instance/awake.ts'
import type { HostLeaseEffect, HostLeaseEvent, StandByOrder } from '../../domain/standby/host-lease-state.ts'
import { refusalRetryMs } from '../../domain/standby/host-lease-settlement.ts'
import type {
  HeldShare,
  HostLeaseView,
  HostMessage,
  InstanceCounts,
  InstanceLoad,
} from '../../domain/standby/lease-protocol.ts'
import { gatewaysToldMs, leaseKeptMs, programLeasePrefix } from '../../domain/standby/lease-protocol.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import { CountReports } from './count-reports.ts'
import { isHeldBack } from '../instance/entry.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { standByResult } from '../instance/record.ts'

/** The longest delay of Node's timers, which have 31 bits. A timer with a longer one would fire at once. */
const timerMaxMs = 2 ** 31 - 1

/** The phases in which nothing of an instance runs or comes up. */
const downPhases: ReadonlySet<LeasePhase> = new Set([LeasePhase.None, LeasePhase.Asleep, LeasePhase.Held])

/** The connection of one gateway. Messages leave in the order in which they were given. */
export interface GatewayLine {
  readonly gatewayId: string
  send(message: HostMessage | Promise<HostMessage>): void
  /** Called when another connection of the same gateway has replaced this one. */
  end(): void
}

/**
 * The work that the leases' decisions begin. `wake`, `sleep` and `hurry` tell their result later, with
 * `HostLeases.tell`. No method may throw.
 */
export interface HostLeaseWork {
  wake(entry: InstanceEntry, boot: number): void
  sleep(entry: InstanceEntry, order: StandByOrder): void
  hurry(entry: InstanceEntry, boot: number): void
  noteWakeFailure(entry: InstanceEntry, failed: Extract<HostLeaseEffect, { kind: 'tell-wake-failed' }>): void
  /** Called when there is an event to report to a workflow. */
  news(): void
}

/**
 * Feeds the events to every instance's lease (`src/domain/standby/host-lease.ts`) and carries out its
 * decisions. This class knows the connected gateways and the clock; it decides nothing.
 */
export class HostLeases {
  readonly #ports: AgentPorts
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  readonly #lines = new Map<string, GatewayLine>()
  /** The timers of the next `tick` of each instance, for those that have one. */
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #reports = new CountReports()
  #work: HostLeaseWork | undefined

  constructor(ports: AgentPorts, entries: ReadonlyMap<string, InstanceEntry>) {
    this.#ports = ports
    this.#entries = entries
  }

  /** Sets the work. The parts that work on VMs need the leases first, so it is set after the construction. */
  setCallbacks(work: HostLeaseWork): void {
    this.#work = work
  }

  tell(entry: InstanceEntry, event: HostLeaseEvent): void {
    const { state, effects } = decide(entry.hostLease, event, this.#ports.nowMs())
    entry.hostLease = state
    if (state.idle?.epoch !== entry.idleDue?.epoch) entry.idleDue = undefined
    for (const effect of effects) this.#carryOut(entry, effect)
    this.#arm(entry)
  }

  /** Makes every lease do what is due by now. */
  tick(): void {
    for (const entry of this.#entries.values()) this.tell(entry, { kind: 'tick' })
  }

  /** Forgets an instance that this host does not have any more. */
  forget(entry: InstanceEntry): void {
    clearTimeout(this.#timers.get(entry.instanceUuid))
    this.#timers.delete(entry.instanceUuid)
  }

  get gateways(): number {
    return this.#lines.size
  }

  connect(
    line: GatewayLine,
    held: readonly { readonly instance: string; readonly boot: number; readonly epoch: number }[],
    shares: readonly ({ readonly instance: string } & HeldShare)[] = [],
  ): void {
    const { gatewayId: gateway } = line
    this.#lines.get(gateway)?.end()
    this.#lines.set(gateway, line)
    const heldOf = new Map(held.map((each) => [each.instance, each]))
    const shareOf = new Map(shares.map(({ instance, ...share }) => [instance, share]))
    for (const [instance, { boot }] of heldOf) {
      if (!this.#entries.has(instance)) line.send({ kind: 'gone', instance, boot })
    }
    for (const entry of this.#entries.values()) {
      // The gateway will report its present loads again, but not that other loads have ended meanwhile: a
      // report of that may have been lost with the last connection.
      entry.loads.forget(gateway)
      const hold = heldOf.get(entry.instanceUuid)
      const share = shareOf.get(entry.instanceUuid)
      if (hold === undefined && share === undefined && !isKnown(entry, gateway)) continue
      this.tell(entry, {
        kind: 'hello',
        gateway,
        ...(hold === undefined ? {} : { held: { boot: hold.boot, epoch: hold.epoch } }),
        ...(share === undefined ? {} : { share }),
      })
    }
  }

  /** `closed`: the gateway itself has closed the connection, as its end does. */
  disconnect(line: GatewayLine, lastWordMs: number, closed = false): void {
    this.#lose(line, { keptUntilMs: lastWordMs + leaseKeptMs, closed })
  }

  /** Ends a line that has nothing under way any more. Its leases end at once, and no drain waits. */
  leave(line: GatewayLine): void {
    this.#lose(line, { keptUntilMs: 0, closed: true })
  }

  #lose(line: GatewayLine, how: { readonly keptUntilMs: number; readonly closed: boolean }): void {
    const { gatewayId: gateway } = line
    if (this.#lines.get(gateway) !== line) return
    this.#lines.delete(gateway)
    this.#reports.lost(line)
    for (const entry of this.#entries.values()) {
      entry.loads.forget(gateway)
      if (isKnown(entry, gateway)) this.tell(entry, { kind: 'lost', gateway, ...how })
    }
  }

  /**
   * Waits until the gateways had time to connect to this agent, if it is new. By then they have heard what
   * becomes of the boot. Returns whether the boot has ended before that.
   */
  async endsUntold(entry: InstanceEntry): Promise<boolean> {
    const waitMs = Math.min(gatewaysToldMs, entry.hostLease.toldFromMs - this.#ports.nowMs())
    return waitMs > 0 && (await entry.ended(waitMs))
  }

  /** Takes a traffic event of one gateway. If the instance is not here, only an `open` is answered. */
  hear(line: GatewayLine, instance: string, event: HostLeaseEvent): void {
    const entry = this.#entries.get(instance)
    if (entry !== undefined) this.tell(entry, event)
    else if (event.kind === 'open') {
      line.send({
        kind: 'refused',
        instance,
        epoch: event.epoch,
        reason: 'unknown',
        message: 'The host does not know the instance.',
        retryAfterMs: refusalRetryMs,
      })
    }
  }

  noteLoads(gateway: string, loads: readonly InstanceLoad[]): void {
    for (const load of loads) this.#entries.get(load.instance)?.loads.note(gateway, load)
  }

  noteCounts(gateway: string, counts: readonly InstanceCounts[]): void {
    for (const each of counts) this.#entries.get(each.instance)?.loads.noteCounts(gateway, each)
  }

  noteReported(line: GatewayLine, number: number): void {
    this.#reports.answered(line, number)
  }

  /**
   * Asks all gateways for their present counts of requests and connections. Resolves when all have answered
   * or a time limit is over. A reading after that is up to date.
   */
  async countsTold(): Promise<void> {
    await this.#reports.ask(this.#lines.values())
  }

  hostLease(instanceUuid: string): HostLeaseView | undefined {
    const entry = this.#entries.get(instanceUuid)
    if (entry === undefined) return undefined
    const { phase, boot, leases, disabled, idle, permit, wakeFailure } = entry.hostLease
    const { stalledSinceMs, noRoom } = entry
    const held = leases.filter(({ status }) => status === 'held')
    const programs = held.filter(({ gateway }) => gateway.startsWith(programLeasePrefix)).length
    const asleep = downPhases.has(phase)
    return {
      phase,
      boot,
      awake: !asleep,
      leases: held.length,
      ...(programs === 0 ? {} : { programs }),
      ...entry.loads.now(),
      disabled,
      ...(idle === undefined ? {} : { idleSinceMs: idle.sinceMs }),
      ...(isHeldBack(entry) ? { heldBack: true } : {}),
      ...(permit === undefined ? {} : { permit }),
      ...(wakeFailure === undefined
        ? {}
        : { wakeFailure: { message: wakeFailure.message, retryAtMs: wakeFailure.retryAtMs } }),
      ...(stalledSinceMs === undefined ? {} : { stalledSinceMs }),
      ...(noRoom?.boot !== boot || asleep
        ? {}
        : { noRoom: { atMs: noRoom.atMs, neededMb: noRoom.neededMb, leftMb: noRoom.leftMb } }),
    }
  }

  /** The given instances that are awake. Answers from memory. */
  awake(instanceUuids: readonly string[]): AwakeInstances {
    const pairs = instanceUuids.flatMap((instanceUuid) => {
      const entry = this.#entries.get(instanceUuid)
      const state = entry === undefined ? undefined : awakeState(entry.hostLease.phase)
      if (entry === undefined || state === undefined) return []
      const { phase, permit } = entry.hostLease
      // While the instance is being woken, `hostLease.boot` is still the boot that slept.
      const boot = (phase === LeasePhase.Waking ? permit : undefined) ?? entry.hostLease.boot
      const started = [entry.newestStart, entry.record?.started].find((each) => each?.boot === boot)
      return [[instanceUuid, { boot, state, ...(started === undefined ? {} : { started }) }] as const]
    })
    return Object.fromEntries(pairs)
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #arm(entry: InstanceEntry): void {
    clearTimeout(this.#timers.get(entry.instanceUuid))
    const dueMs = nextDueMs(entry.hostLease)
    if (dueMs === undefined || entry.removed) {
      this.#timers.delete(entry.instanceUuid)
      return
    }
    const delayMs = Math.min(timerMaxMs, Math.max(1, dueMs - this.#ports.nowMs()))
    const timer = setTimeout(() => {
      this.tell(entry, { kind: 'tick' })
    }, delayMs)
    timer.unref()
    this.#timers.set(entry.instanceUuid, timer)
  }

  #carryOut(entry: InstanceEntry, effect: HostLeaseEffect): void {
    const { instanceUuid: instance } = entry
    switch (effect.kind) {
      case 'opened':
        this.#lines.get(effect.gateway)?.send(this.#opened(entry, effect))
        break
      case 'refused': {
        const { gateway, ...refusal } = effect
        this.#lines.get(gateway)?.send({ ...refusal, instance })
        break
      }
      case 'share':
      case 'spare': {
        const { gateway, ...change } = effect
        this.#lines.get(gateway)?.send({ ...change, instance })
        break
      }
      case 'tell-gateway':
        this.#lines.get(effect.gateway)?.send({ kind: effect.word, instance, boot: effect.boot })
        break
      case 'tell-rest': {
        const { gateway, boot, withinMs } = effect
        this.#lines.get(gateway)?.send({ kind: 'rest', instance, boot, withinMs })
        break
      }
      case 'tell-settings': {
        const { gateway, ...told } = effect
        this.#lines.get(gateway)?.send({ ...told, kind: 'settings', instance })
        break
      }
      case 'wake':
        this.#work?.wake(entry, effect.boot)
        break
      case 'sleep':
        this.#work?.sleep(entry, effect.order)
        break
      case 'hurry':
        this.#work?.hurry(entry, effect.boot)
        break
      case 'count-peers':
        this.#countPeers(entry, effect.epoch)
        break
      case 'answer-stand-by':
        this.#answerStandBy(entry, effect)
        break
      case 'answer-drain':
        answerDrain(entry, effect.boot)
        break
      case 'tell-idle':
        entry.idleDue = { ...effect, kind: 'idle', sinceMs: Math.round(effect.sinceMs) }
        this.#work?.news()
        break
      case 'tell-disabled':
        this.#work?.news()
        break
      case 'tell-wake-failed':
        this.#ports.observer.wakeFailed(effect.failure)
        this.#work?.noteWakeFailure(entry, effect)
        break
    }
  }

  async #opened(
    entry: InstanceEntry,
    opened: Extract<HostLeaseEffect, { kind: 'opened' }>,
  ): Promise<HostMessage> {
    const { gateway: _, ports, ...lease } = opened
    const reach: Record<number, { readonly host: string; readonly port: number }> = {}
    const nic = entry.record?.nic
    for (const port of nic === undefined ? [] : ports) {
      const place = nic === undefined ? undefined : await this.#ports.network.reach(nic, port)
      if (place !== undefined) reach[port] = place
    }
    return { ...lease, instance: entry.instanceUuid, reach }
  }

  #answerStandBy(entry: InstanceEntry, answer: Extract<HostLeaseEffect, { kind: 'answer-stand-by' }>): void {
    const { refused } = answer
    if (refused !== undefined) this.#ports.observer.standByRefused(refused)
    const slept = standByResult(entry.record, answer)
    const result =
      refused === undefined && slept !== undefined
        ? slept
        : ({ slept: false, reason: refused ?? 'not-running' } as const)
    for (const call of entry.standByCalls) {
      if (call.boot !== answer.boot || call.permit !== answer.permit) continue
      entry.standByCalls.delete(call)
      call.resolve(result)
    }
  }

  #countPeers(entry: InstanceEntry, epoch: number): void {
    const nic = entry.record?.nic
    if (nic === undefined) return
    this.#ports.network.peerPackets(nic).then(
      (count) => {
        if (count !== undefined) this.tell(entry, { kind: 'peer-packets', epoch, count })
      },
      (error: unknown) => {
        this.#ports.log.warn(
          { instance: entry.instanceUuid, err: error },
          'packets of peers could not be read',
        )
      },
    )
  }
}

function answerDrain(entry: InstanceEntry, boot: number): void {
  for (const call of entry.drainCalls) {
    if (call.boot !== boot) continue
    entry.drainCalls.delete(call)
    call.resolve()
  }
}

function isKnown({ hostLease }: InstanceEntry, gateway: string): boolean {
  return hostLease.leases.some((lease) => lease.gateway === gateway)
}
