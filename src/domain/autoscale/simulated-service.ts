import type { AutoscaleOutcome } from './outcome.ts'
import type { AutoscaleObservation } from './observation.ts'
import type { AlignedSize } from './alignment.ts'
import { Drain, planAlignment, targetAfter } from './alignment.ts'
import { eachMetric, observationIntervalMs } from './looks.ts'
import { standingOf, Standing } from './members.ts'
import type { AutoscaleMember, MemberLoad } from './members.ts'
import type { AutoscaleConfiguration } from './policy.ts'
import type { MetricValues } from './proposal.ts'
import { InstanceState } from '../instance/state.ts'
import { diceAt } from './load-curve.ts'
import { befall, hostFor, SimulatedHost } from './simulated-troubles.ts'
import type { SimulatedTroubles } from './simulated-troubles.ts'

export interface SimulatedWorld extends SimulatedTroubles {
  readonly configuration: AutoscaleConfiguration
  /** The most that one instance can serve, per metric. */
  readonly capacities: MetricValues
  /** The time from an instance's creation until it serves. Each instance takes up to a fifth more. */
  readonly bootMs: number
  readonly seed: number
  /** How many clones do not start: the first ones that are made. */
  readonly failing?: number
  /** The most instances that may exist, including those that drain. */
  readonly quota?: number
  /** Whether the host does not report the load of the instance with this name. */
  readonly isSilent?: (name: string, atMs: number) => boolean
}

interface Simulated {
  readonly member: AutoscaleMember
  /** The time at which the instance serves, or its start has failed. */
  readonly readyAtMs: number
  readonly fails: boolean
}

const masterName = 'master'
/** The master has run for a day when a simulation begins. */
const masterSinceMs = -86_400_000
/** The time from the creation of a failing clone until its start has failed. */
const failingMs = 5_000

/** A model of a service whose instances share the load evenly. Only boots and drains take time in it. */
export class SimulatedService {
  readonly #world: SimulatedWorld
  #instances: Simulated[]
  #made = 0
  #drainingUntilMs: number[] = []

  constructor(world: SimulatedWorld) {
    this.#world = world
    const master = {
      ...memberAt(masterName, { atMs: masterSinceMs, nodeId: SimulatedHost.OfMaster }),
      isMaster: true,
      state: InstanceState.Running,
      startedAtMs: masterSinceMs,
    }
    this.#instances = [{ member: master, readyAtMs: masterSinceMs, fails: false }]
  }

  /** Moves the model on to `nowMs`: troubles happen, instances finish their boot, drained ones disappear. */
  advance(nowMs: number): void {
    this.#drainingUntilMs = this.#drainingUntilMs.filter((atMs) => atMs > nowMs)
    this.#instances = this.#instances.map((instance) => {
      const before = instance.member
      const member = befall(before, this.#world, nowMs)
      const startsNow = member.state === InstanceState.Starting && before.state !== member.state
      const readyAtMs = startsNow ? nowMs + this.#world.bootMs : instance.readyAtMs
      return { ...instance, readyAtMs, member: bootedBy(nowMs, { ...instance, member, readyAtMs }) }
    })
  }

  /** What a look sees under the demand. The instances that serve share it. */
  members(demand: MetricValues, nowMs: number): AutoscaleObservation['members'] {
    const { configuration, capacities, isSilent } = this.#world
    const load = loadAt(demand, this.serving, capacities)
    return this.#instances.map(({ member }) => {
      const { startedAtMs = Infinity, name } = member
      const isTold =
        isUp(member) && nowMs >= startedAtMs + observationIntervalMs && isSilent?.(name, nowMs) !== true
      const standing = standingOf(member, configuration, nowMs)
      return { ...member, standing, ...(isTold && { load }) }
    })
  }

  get serving(): number {
    return this.#instances.filter(({ member }) => isUp(member)).length
  }

  /** All instances, including those that drain. */
  get held(): number {
    return this.#instances.length + this.#drainingUntilMs.length
  }

  warm(nowMs: number): number {
    const { configuration } = this.#world
    return this.#instances.filter(
      ({ member }) => standingOf(member, configuration, nowMs) === Standing.Counted,
    ).length
  }

  /** Aligns the instances as the workflow's activity does. */
  align(
    work: {
      readonly target: number
      readonly mayAdd: boolean
      readonly cause: AutoscaleOutcome
    },
    nowMs: number,
  ): AlignedSize {
    const { configuration, quota = Infinity } = this.#world
    const plan = planAlignment(this.members(nothing, nowMs), {
      target: work.target,
      cause: work.cause,
    })
    const going = new Map(plan.retire.map(({ uuid, drain }) => [uuid, drain]))
    this.#instances = this.#instances.filter(({ member }) => !going.has(member.uuid))
    for (const drain of going.values())
      if (drain !== Drain.None) this.#drainingUntilMs.push(nowMs + configuration.cooldownMs)
    const { target } = work
    if (!work.mayAdd) return { size: plan.size, target }
    const room = Math.max(0, quota - this.held)
    const added = Math.min(plan.missing, room)
    for (let count = 0; count < added; count++) this.#add(nowMs)
    const size = plan.size + added
    if (added === plan.missing) return { size, target }
    const refused = { size, target, refusal: `the quota of ${quota} instances is used up` }
    const bounds = { cause: work.cause.kind, minSize: configuration.minSize }
    return { ...refused, target: targetAfter(refused, bounds) }
  }

  #add(nowMs: number): void {
    const { bootMs, seed, failing = 0 } = this.#world
    this.#made += 1
    const fails = this.#made <= failing
    const takesMs = fails ? failingMs : Math.round(bootMs * (1 + diceAt(seed, this.#made, 3) / 5))
    const nodeId = hostFor(this.#made, this.#world, nowMs)
    const member = memberAt(`${masterName}-${this.#made}`, { atMs: nowMs, nodeId })
    this.#instances.push({ member, readyAtMs: nowMs + takesMs, fails })
  }
}

function isUp({ state, isHostGone }: AutoscaleMember): boolean {
  return state === InstanceState.Running && isHostGone !== true
}

function bootedBy(nowMs: number, { member, readyAtMs, fails }: Simulated): AutoscaleMember {
  if (member.state !== InstanceState.Starting || nowMs < readyAtMs) return member
  const since = { ...member, stateSinceMs: readyAtMs }
  return fails
    ? { ...since, state: InstanceState.Stopped, failure: 'its image does not start' }
    : { ...since, state: InstanceState.Running, startedAtMs: readyAtMs }
}

function memberAt(
  name: string,
  { atMs, nodeId }: { readonly atMs: number; readonly nodeId: string },
): AutoscaleMember {
  return {
    uuid: name,
    name,
    isMaster: false,
    nodeId,
    state: InstanceState.Starting,
    stateSinceMs: atMs,
    createdAtMs: atMs,
    startCount: 1,
    restartAttempt: 0,
  }
}

const nothing: MetricValues = eachMetric(() => 0)

/**
 * The load of one of `serving` instances that share the demand. What is more than it can serve waits in line.
 */
export function loadAt(demand: MetricValues, serving: number, capacities: MetricValues): MemberLoad {
  return eachMetric((metric) => {
    const share = serving === 0 ? 0 : demand[metric] / serving
    return metric === 'in_flight' ? share : Math.min(share, capacities[metric])
  })
}

/** How many instances the demand keeps busy, by the metric that is the narrowest. */
export function busyWith(demand: MetricValues, capacities: MetricValues): number {
  return Math.max(...Object.values(eachMetric((metric) => demand[metric] / capacities[metric])))
}
