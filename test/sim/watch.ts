import { LeasePhase } from '../../src/domain/standby/host-lease-phase.ts'
import { effectsOf, HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import { Phase, phaseOf } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle } from '../../src/domain/instance/lifecycle-state.ts'
import { permitOf } from '../../src/host/instance/record.ts'
import type { Outcome, Trip } from './flights.ts'
import { checkHardLimit } from './hard-limit.ts'
import { checkStandingBy } from './standing-by.ts'
import type { MachineWatch, SimVm } from './machine.ts'
import type { WatchedParts } from './watched-parts.ts'

/** How old the news may be on which a gateway acts. The route feed and the lines may be late. */
const newsLagMs = 12_000
/** After a wake has failed, the longest time for which traffic does not try another. */
const backOffMs = 60_000
/** The time until the host has noted the end of a VM. */
const endingMs = 1_000
/** A trip that waits longer than this, while nothing is wrong, counts as one that waits for ever. */
const longestWaitMs = 35_000

const waitingPhases: ReadonlySet<LeasePhase> = new Set([
  LeasePhase.Starting,
  LeasePhase.StandingBy,
  LeasePhase.Held,
  LeasePhase.Waking,
])

/** The time until a gateway knows what its host told it, over a line that nothing disturbs. */
const tellingMs = 20
/**
 * How long a phase may last from which the instance has to come out by itself: a start or a wake, which may
 * fail, or a shutdown.
 */
const longestPhaseMs: ReadonlyMap<LeasePhase | undefined, number> = new Map([
  [LeasePhase.Starting, 15_000],
  [LeasePhase.Waking, 15_000],
  [LeasePhase.StandingBy, 25_000],
  [LeasePhase.Stopping, 25_000],
  [LeasePhase.Held, 15_000],
])

const downPhases: ReadonlySet<LeasePhase> = new Set([
  LeasePhase.None,
  LeasePhase.Draining,
  LeasePhase.Stopping,
])

/**
 * Checks the rules that hold at every moment, and looks for the excuse of a request that was not answered.
 */
export class Watch implements MachineWatch {
  /** Set as soon as all parts are there. */
  parts: WatchedParts | undefined
  /** The last time at which the instance was down, so that it was right that no client reached it. */
  #downMs = -Infinity
  /** The last time at which a start or a wake failed. */
  #failedMs = -Infinity
  #agentAwayMs = -Infinity
  /** The last time at which a VM ended for another reason than standby. */
  #endedMs = -Infinity
  #sleeping: number | undefined
  #phase: LeasePhase | undefined
  #phaseSinceMs = -Infinity

  /** Checks the rules. Called after every event. */
  look(): void {
    const { host, workflow, world } = this.#all()
    if (!host.isUp) this.#agentAwayMs = world.nowMs
    const phase = this.#leasePhase()
    this.#checkPhase(phase)
    this.#checkLease()
    const isDown = phase !== undefined && downPhases.has(phase)
    if (isDown || downLives.has(phaseOf(workflow.life))) this.#downMs = world.nowMs
    this.#checkPermit()
  }

  /**
   * Called after every decision of the workflow. The revision and the uptime of a life never become smaller.
   * A draining instance is not sent to standby.
   */
  decided(life: Lifecycle, before: Lifecycle): void {
    const { world } = this.#all()
    if (life.revision < before.revision) world.fail(`revision ${life.revision} follows ${before.revision}`)
    if (life.uptimeMs < before.uptimeMs) world.fail(`uptime ${life.uptimeMs} follows ${before.uptimeMs}`)
    const isOrdered = effectsOf(life).hostWork?.kind === HostWorkKind.StandBy
    if (isOrdered && phaseOf(life) === Phase.Draining) world.fail('a draining instance is sent to standby')
  }

  #checkPhase(phase: LeasePhase | undefined): void {
    const { world } = this.#all()
    if (phase !== this.#phase) {
      this.#phase = phase
      this.#phaseSinceMs = world.nowMs
    }
    const lastsMs = world.nowMs - this.#phaseSinceMs
    if (lastsMs > (longestPhaseMs.get(phase) ?? Infinity))
      world.fail(`the host has the instance ${phase} for ${lastsMs} ms`)
  }

  /**
   * The rules: A gateway that asks for a lease gets its answer at once, unless the instance is starting,
   * waking or going to standby. A boot that is to be stopped has no leases.
   */
  #checkLease(): void {
    const { host, world, instanceUuid } = this.#all()
    const entry = host.agent?.core.entries.get(instanceUuid)
    if (entry === undefined || waitingPhases.has(entry.hostLease.phase)) return
    const { hostLease, stopAskedOfBoot } = entry
    if (hostLease.phase === LeasePhase.Running && stopAskedOfBoot >= hostLease.boot)
      world.fail(`boot ${hostLease.boot} is to be stopped, and still has leases`)
    const waiting = hostLease.leases.find(({ status, patient }) => status === 'waiting' && patient !== true)
    if (waiting !== undefined)
      world.fail(`${waiting.gateway} waits although the instance is ${hostLease.phase}`)
  }

  /**
   * The rule: The workflow knows of every permit of the host, so traffic wakes no instance that a user has
   * stopped.
   */
  #checkPermit(): void {
    const { host, workflow, world } = this.#all()
    const { life } = workflow
    const phase = phaseOf(life)
    if (phase === Phase.Standby && life.permit !== life.boot + 1)
      world.fail(`boot ${life.boot} is in standby with permit ${life.permit}`)
    const isDown = phase === Phase.Stopped || phase === Phase.Deleted
    const permit = isDown && life.permit === undefined ? permitOf(host.record) : undefined
    if (permit !== undefined) world.fail(`the instance is ${phase}, and its host has permit ${permit}`)
  }

  complained(message: string): void {
    const { host, world } = this.#all()
    this.#failedMs = world.nowMs
    host.agent?.complained(message)
  }

  creating(boot: number): void {
    const { machine, workflow, world } = this.#all()
    const other = machine.running
    if (other !== undefined)
      world.fail(`boot ${boot} begins beside boot ${other.boot}: two VMs of one instance`)
    if (machine.cameUp.has(boot)) world.fail(`boot ${boot} begins although it came up before`)
    const phase = phaseOf(workflow.life)
    const { permit, givenUp } = workflow.life
    const isOver = phase === Phase.Stopped && permit === undefined && givenUp !== boot
    if (isOver || phase === Phase.Deleted) world.fail(`boot ${boot} begins although the instance is ${phase}`)
  }

  isForStandby(boot: number): boolean {
    const { host, instanceUuid } = this.#all()
    const entry = host.agent?.core.entries.get(instanceUuid)
    const isIts = entry?.record?.boot === boot && entry.record.standby?.boot === boot
    if (isIts && entry.stopAskedOfBoot < boot) this.#sleeping = boot
    return isIts && entry.stopAskedOfBoot < boot
  }

  standingBy(vm: SimVm): void {
    checkStandingBy(vm, this.#all())
  }

  /** The rule: A new agent shuts nothing down before the gateways had time to connect to it again. */
  stopping(vm: SimVm): void {
    const { gateways, world } = this.#all()
    const unheard = gateways.find(({ isExpected, heldBoot }) => isExpected && heldBoot === vm.boot)
    if (unheard !== undefined)
      world.fail(`boot ${vm.boot} is shut down before ${unheard.id} could hear of it`)
  }

  ended(vm: SimVm): void {
    const { clients, world } = this.#all()
    if (this.#sleeping === vm.boot) this.standingBy(vm)
    else this.#endedMs = world.nowMs
    clients.vmEnded(vm)
  }

  /**
   * The rule: A boot that is being shut down takes nothing new, because the gateways hear of it before the
   * application does.
   */
  admitted(trip: Trip): void {
    const { host, machine, world } = this.#all()
    const { id, kind, gateway, admission } = trip
    checkHardLimit(trip, this.#all())
    const { boot, shutdown } = machine.running ?? {}
    if (shutdown === undefined || admission?.boot !== boot) return
    const { sinceMs } = shutdown
    const disturbedMs = Math.max(host.startedAtMs, gateway.line?.disturbedUntilMs ?? Infinity)
    if (disturbedMs + tellingMs < sinceMs && sinceMs + tellingMs < world.nowMs)
      world.fail(
        `${kind} ${id} is admitted to boot ${boot}, which has been going down for ${world.nowMs - sinceMs} ms`,
      )
  }

  outcome(trip: Trip): void {
    const { world } = this.#all()
    const { outcome } = trip
    if (outcome === undefined || outcome.kind === 'aborted') return
    if (outcome.kind === 'answered') this.#checkAnswer(trip, outcome)
    else {
      const excuse =
        outcome.kind === 'refused' ? this.#refusalExcuse(trip, outcome) : this.#breakExcuse(trip, outcome)
      if (!excuse) world.fail(`${trip.kind} ${trip.id} has no excuse for ${JSON.stringify(outcome)}`)
    }
    const untilMs = trip.admission === undefined ? world.nowMs : trip.admittedMs
    const inVainMs = untilMs - Math.max(trip.startedMs, this.#troubledMs(trip))
    if (inVainMs > longestWaitMs) world.fail(`${trip.kind} ${trip.id} waited for ${Math.round(inVainMs)} ms`)
  }

  #checkAnswer(trip: Trip, { boot }: Extract<Outcome, { kind: 'answered' }>): void {
    const { world } = this.#all()
    const { admission, answeredBy } = trip
    if (trip.kind !== 'request') return
    if (answeredBy.size !== 1 || admission?.boot !== boot) {
      world.fail(
        `request ${trip.id} was answered by ${[...answeredBy].join(' and ')}, let to ${admission?.boot}`,
      )
    }
  }

  #refusalExcuse(trip: Trip, { reason }: Extract<Outcome, { kind: 'refused' }>): boolean {
    switch (reason) {
      case 'hard-limit':
        return true
      case 'no-instance':
        return this.#wasDown(trip)
      case 'wake-failed':
        return this.#failedMs >= trip.startedMs - backOffMs
      case 'host-away':
        // A gateway may get its lease just when the VM ends. Then it finds that no port of the VM can be
        // reached.
        return this.#wasAway(trip) || this.#endedMs >= trip.startedMs - endingMs
      case 'timed-out':
        return this.#all().world.nowMs - this.#troubledMs(trip) < longestWaitMs
      default:
        return false
    }
  }

  #breakExcuse(trip: Trip, { why }: Extract<Outcome, { kind: 'broken' }>): boolean {
    const { machine, host, workflow } = this.#all()
    const { admission, gateway } = trip
    if (why === 'its gateway was restarted' || why === 'its VM ended') return true
    if (admission === undefined || trip.givenUp || host.hasGivenUp(gateway.id, trip.admittedMs)) return true
    const endedSince = this.#endedMs >= trip.admittedMs - newsLagMs
    const isGone =
      trip.kind === 'request'
        ? machine.running?.boot !== admission.boot
        : machine.memory !== admission.memoryBoot
    // A start may be reported as failed although its boot came up. The next start ends that boot.
    if (why === 'told that its boot is gone') return isGone || workflow.life.boot > admission.boot
    if (why === 'closed as asked') return this.#wasDown(trip)
    if (why.startsWith('found')) return endedSince && isGone
    return (
      isGone || this.#wasDown(trip) || this.#wasAway(trip) || this.#failedMs >= trip.startedMs - backOffMs
    )
  }

  #wasDown(trip: Trip): boolean {
    return this.#downMs >= this.#lastLookMs(trip) - newsLagMs
  }

  #wasAway(trip: Trip): boolean {
    const sinceMs = this.#lastLookMs(trip) - newsLagMs
    return this.#agentAwayMs >= sinceMs || trip.gateway.troubledMs >= sinceMs
  }

  /**
   * The time that decides whether a failure has an excuse: for a request its start, for a connection its
   * end.
   */
  #lastLookMs(trip: Trip): number {
    return trip.kind === 'request' ? trip.startedMs : this.#all().world.nowMs
  }

  /** The last time at which there was a known reason for a client to wait. */
  #troubledMs(trip: Trip): number {
    return Math.max(this.#downMs, this.#failedMs, this.#agentAwayMs, trip.gateway.troubledMs)
  }

  #leasePhase(): LeasePhase | undefined {
    const { host, instanceUuid } = this.#all()
    const { agent } = host
    if (agent === undefined) return undefined
    return agent.core.entries.get(instanceUuid)?.hostLease.phase ?? LeasePhase.None
  }

  /**
   * Checks a moment at which there was no fault for a while: all parts agree, and no VM runs without a
   * reason.
   */
  checkQuiet(): void {
    const { world, workflow, machine, host, instanceUuid, clients, configuration } = this.#all()
    const { life } = workflow
    const phase = phaseOf(life)
    const vm = machine.running
    const entry = host.agent?.core.entries.get(instanceUuid)
    const { hostLease } = entry ?? {}
    const kept = entry?.launch?.spec.configVersion ?? Infinity
    const wrong = (what: string): void => {
      world.fail(
        `at rest, the workflow says ${phase} (boot ${life.boot}), the host ${hostLease?.phase ?? 'nothing'}: ${what}`,
      )
    }
    for (const { kind, id, admission } of clients.underWay) {
      const sleeps = admission !== undefined && machine.snapshot?.memory === admission.memoryBoot
      if (!sleeps) wrong(`${kind} ${id} is still under way`)
    }
    if (life.suspend !== undefined && phase !== Phase.Deleted) wrong('a user waits for its standby')
    if (life.retired === true && phase !== Phase.Deleted) wrong('the instance is retired but not gone')
    switch (phase) {
      case Phase.Running:
        if (vm?.boot !== life.boot) wrong(`VM of boot ${vm?.boot ?? 'none'}`)
        else if (!this.#hasReasonToBeAwake(vm)) wrong('its VM has no reason to be awake')
        if ((life.report?.configVersion ?? 0) < configuration.now.renewBelow) wrong('an old configuration')
        if (hostLease?.permit !== undefined) wrong('a permit is left')
        break
      case Phase.Standby:
        if (vm !== undefined) wrong(`VM of boot ${vm.boot}`)
        if (hostLease?.phase !== LeasePhase.Asleep) wrong('not asleep')
        else if (hostLease.permit !== life.boot + 1) wrong(`permit ${hostLease.permit}`)
        if (effectsOf(life).hostWork !== undefined) wrong('work is left')
        if (kept < configuration.now[machine.snapshot ? 'renewBelow' : 'version']) wrong(`kept: ${kept}`)
        break
      case Phase.Stopped:
        if (vm !== undefined) wrong(`VM of boot ${vm.boot}`)
        if (hostLease !== undefined && hostLease.phase !== LeasePhase.None) wrong('not down')
        break
      case Phase.Deleted:
        if (vm !== undefined || machine.snapshot !== undefined || host.record !== undefined)
          wrong('something is left')
        break
      case Phase.Starting:
      case Phase.Draining:
      case Phase.Stopping:
      case Phase.Deleting:
        wrong('not at rest')
    }
    if (phase === Phase.Stopped && machine.snapshot !== undefined) wrong('a snapshot is left')
  }

  /** Checks that every connection to a guest whose memory is gone has been told so. */
  checkConnected(): void {
    const { clients, machine, world } = this.#all()
    for (const { kind, id, admission } of clients.underWay) {
      if (kind === 'connection' && admission !== undefined && admission.memoryBoot !== machine.memory) {
        world.fail(`connection ${id} leads to memory ${admission.memoryBoot}, which is gone`)
      }
    }
  }

  #hasReasonToBeAwake(vm: SimVm): boolean {
    const { settings } = this.#all()
    return settings.policy === 'off' || vm.disabled
  }

  #all(): WatchedParts {
    if (this.parts === undefined) throw new Error('the simulation is not set up')
    return this.parts
  }
}

const downLives: ReadonlySet<Phase> = new Set([
  Phase.Stopped,
  Phase.Stopping,
  Phase.Draining,
  Phase.Deleting,
  Phase.Deleted,
])
