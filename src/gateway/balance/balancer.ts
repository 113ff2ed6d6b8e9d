import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { HostConnection, GatewayLeasePhase } from '../../domain/standby/gateway-lease-state.ts'
import type { GatewayLeaseEvent } from '../../domain/standby/gateway-lease-state.ts'
import { HostSilence } from '../../domain/host/silence.ts'
import type { HostSigns } from '../../domain/host/silence.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { RouteInstance, RouteNode, RouteService } from '../../domain/service/route-feed.ts'
import type { HostMessage, OpenLease } from '../../domain/standby/lease-protocol.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { HostLink } from '../hosts/host-link.ts'
import type { RouteChange, Routes } from '../routes.ts'
import type { Admission, Ask, Refusal, Traffic } from '../traffic.ts'
import { defaultBalanceLimits } from './balance-limits.ts'
import type { BalanceLimits } from './balance-limits.ts'
import { LeasedInstance } from './leased-instance.ts'
import { QueueShares } from './queue-shares.ts'
import { ServiceVersions } from './service-versions.ts'
import type { VersionMembers } from './service-versions.ts'

export interface BalancerOptions {
  readonly routes: Routes
  /** Closes the idle upstream connections of that boot. */
  readonly forget: (instanceUuid: string, boot: number) => void
  readonly observer?: BalanceObserver
  readonly limits?: Partial<BalanceLimits>
  /** A monotonic clock. */
  readonly nowMs?: () => number
  readonly onHostProblem?: (nodeId: string, why: string) => void
  /** What the gateway shows to hosts on other machines. Absent: there are none. */
  readonly identity?: () => PartIdentity | undefined
}

export type InstanceWoken = NonNullable<OpenLease['woken']> & {
  readonly serviceUuid: string
  /** The rollout that brings in the version of which the instance is; undefined if there is none. */
  readonly rolloutUuid: string | undefined
}

export interface BalanceObserver {
  woken(woken: InstanceWoken): void
  refused(reason: Refusal['reason']): void
}

interface Host {
  readonly link: HostLink
  readonly leased: Map<string, LeasedInstance>
  state: HostConnection
  /** Whether the next report has to contain all loads, because the host knows none of them yet. */
  reportAll: boolean
}

type LinkEvent = Extract<GatewayLeaseEvent, { readonly kind: `link-${string}` }>

const linkOf = {
  [HostSilence.Down]: HostConnection.Down,
  [HostSilence.Silent]: HostConnection.Silent,
  [HostSilence.Away]: HostConnection.Away,
  [HostSilence.Unreachable]: HostConnection.Away,
} as const

/** The states of instances that may be asked, in the order in which they are asked. */
const candidateStates: readonly InstanceState[] = [
  InstanceState.Running,
  InstanceState.Starting,
  InstanceState.Standby,
]
/**
 * The largest number of loads in one line. It keeps the line far below the longest that the protocol
 * permits.
 */
const maxLoadsPerLine = 1_000

/** Spreads the traffic of all services. It knows services, instances and hosts as the routes tell them. */
export class Balancer implements Traffic {
  readonly gatewayId = randomUUID()
  readonly #options: BalancerOptions
  readonly #limits: BalanceLimits
  readonly #nowMs: () => number
  readonly #hosts = new Map<string, Host>()
  readonly #leased = new Map<string, LeasedInstance>()
  readonly #services = new Map<string, ServiceVersions>()
  readonly #unsubscribe: () => void
  readonly #reports: NodeJS.Timeout
  readonly #queue: QueueShares

  constructor(options: BalancerOptions) {
    this.#options = options
    this.#limits = { ...defaultBalanceLimits, ...options.limits }
    this.#queue = new QueueShares(this.#limits.maxQueued)
    this.#nowMs = options.nowMs ?? (() => performance.now())
    for (const node of options.routes.nodes()) this.#connect(node)
    this.#unsubscribe = options.routes.onChange((change) => this.#apply(change))
    this.#reports = setInterval(() => this.#report(), this.#limits.loadReportMs)
    this.#reports.unref()
  }

  admit(ask: Ask): Admission | Refusal | Promise<Admission | Refusal> {
    const { uuid } = ask.service
    const versions = this.#services.get(uuid) ?? this.#versionsOf(ask.service)
    const outcome = versions.admit(ask)
    if (outcome instanceof Promise) return outcome.then((later) => this.#settled(ask, versions, later))
    return outcome.admitted ? outcome : this.#settled(ask, versions, outcome)
  }

  get queued(): number {
    return this.#queue.all
  }

  get hosts(): { readonly known: number; readonly connected: number } {
    const all = [...this.#hosts.values()]
    return { known: all.length, connected: all.filter(({ link }) => link.connected).length }
  }

  /** Returns how many instances are in each phase. */
  phases(): ReadonlyMap<GatewayLeasePhase, number> {
    const counts = new Map<GatewayLeasePhase, number>()
    for (const { phase } of this.#leased.values()) counts.set(phase, (counts.get(phase) ?? 0) + 1)
    return counts
  }

  close(): void {
    this.#unsubscribe()
    clearInterval(this.#reports)
    for (const service of this.#services.values()) service.close()
    for (const member of this.#leased.values()) member.close()
    for (const { link } of this.#hosts.values()) link.close()
  }

  /**
   * Asks the host again for a while if routes and host disagree on whether there is an instance to wake:
   * one of the two is about to learn what the other knows. For an instance that restarts, requests wait as
   * long as for any other that comes up.
   */
  #settled(
    ask: Ask,
    versions: ServiceVersions,
    outcome: Admission | Refusal,
  ): Admission | Refusal | Promise<Admission | Refusal> {
    if (outcome.admitted) return outcome
    const unsettled = outcome.reason === 'no-instance' && versions.isDisputed
    return unsettled ? this.#askAgain(ask, versions, outcome) : this.#refused(outcome)
  }

  async #askAgain(ask: Ask, versions: ServiceVersions, first: Refusal): Promise<Admission | Refusal> {
    const { maxWaitMs, unsettledMs } = this.#limits
    const untilMs = this.#nowMs() + (this.#isStarting(ask.service) ? maxWaitMs : unsettledMs)
    const user = userOf(ask.service)
    let refusal = first
    while (this.#nowMs() < untilMs && refusal.reason === 'no-instance' && versions.isDisputed) {
      if (!this.#queue.take(user)) break
      await delay(this.#limits.unsettledPollMs, undefined, { signal: ask.signal }).catch(() => undefined)
      this.#queue.leave(user)
      versions.doubtRefusals()
      const outcome = await versions.admit(ask)
      if (outcome.admitted) return outcome
      refusal = outcome
    }
    return this.#refused(refusal)
  }

  /** Whether an instance comes up, as far as the routes know; it may have to end before. */
  #isStarting({ uuid }: RouteService): boolean {
    return this.#options.routes.instancesOf(uuid).some(({ state }) => state === InstanceState.Starting)
  }

  #refused(refusal: Refusal): Refusal {
    this.#options.observer?.refused(refusal.reason)
    return refusal
  }

  #versionsOf(service: RouteService): ServiceVersions {
    const user = userOf(service)
    const owner = {
      nowMs: this.#nowMs,
      limits: this.#limits,
      queue: () => this.#queue.take(user),
      unqueue: () => this.#queue.leave(user),
    }
    const versions = new ServiceVersions(owner, service)
    // A request may have found its service a moment before the routes dropped it. What it gets is not kept.
    if (this.#options.routes.service(service.uuid) !== undefined) this.#services.set(service.uuid, versions)
    this.#update(versions, service)
    return versions
  }

  #update(versions: ServiceVersions, service: RouteService): void {
    const { rollout } = service
    const candidates = this.#options.routes
      .instancesOf(service.uuid)
      .filter(({ state }) => candidateStates.includes(state))
      .toSorted((a, b) => candidateStates.indexOf(a.state) - candidateStates.indexOf(b.state))
    const isNext = (instance: RouteInstance): boolean => rollout !== undefined && instance.isNext === true
    versions.update(
      service,
      this.#membersOf(
        candidates.filter((instance) => !isNext(instance)),
        undefined,
      ),
      this.#membersOf(candidates.filter(isNext), rollout?.uuid),
    )
  }

  #membersOf(candidates: readonly RouteInstance[], rolloutUuid: string | undefined): VersionMembers {
    const members = candidates.flatMap((instance) => {
      const member = this.#leasedOf(instance)
      if (member === undefined) return []
      member.rolloutUuid = rolloutUuid
      return [{ member, state: instance.state }]
    })
    return {
      members: members.map(({ member }) => member),
      running: members.filter(({ state }) => state === InstanceState.Running).length,
    }
  }

  #leasedOf(instance: RouteInstance): LeasedInstance | undefined {
    const known = this.#leased.get(instance.uuid)
    if (known !== undefined && known.nodeId === instance.nodeId) {
      known.stay()
      return known
    }
    const host = this.#hosts.get(instance.nodeId)
    if (known !== undefined && host !== undefined && known.held() === undefined) {
      this.#hosts.get(known.nodeId)?.leased.delete(known.uuid)
      host.leased.set(known.uuid, known)
      known.move(instance.nodeId, host.state)
      known.stay()
      return known
    }
    if (known !== undefined) this.#leaveHost(known)
    if (host === undefined) return undefined
    const { uuid, nodeId } = instance
    const { routes, forget, observer } = this.#options
    const serviceUuid = (): string => routes.instance(uuid)?.serviceUuid ?? instance.serviceUuid
    const member: LeasedInstance = new LeasedInstance({
      uuid,
      nodeId,
      link: host.state,
      // The time is above every epoch of an earlier lease of the same instance: epochs grow by one per
      // request for a lease, and each request took more than a millisecond.
      epoch: Math.floor(Date.now()),
      owner: {
        nowMs: this.#nowMs,
        freshMs: this.#limits.freshMs,
        maxWaitMs: this.#limits.maxWaitMs,
        ports: () => [...new Set(routes.service(serviceUuid())?.ports.map((port) => port.destinationPort))],
        hardLimit: () => routes.service(serviceUuid())?.hardLimit ?? 0,
        send: (message) => this.#hosts.get(member.nodeId)?.link.send(message),
        moved: (change) => this.#services.get(serviceUuid())?.pump(change),
        forget: (boot) => forget(uuid, boot),
        woken: (woken) =>
          observer?.woken({ serviceUuid: serviceUuid(), rolloutUuid: member.rolloutUuid, ...woken }),
      },
    })
    this.#leased.set(uuid, member)
    host.leased.set(uuid, member)
    return member
  }

  /**
   * The instance is on another host, and this one did not ask for its lease: it is lost. What is in flight to
   * it gets no answer any more.
   */
  #leaveHost(member: LeasedInstance): void {
    this.#hosts.get(member.nodeId)?.leased.delete(member.uuid)
    this.#leased.delete(member.uuid)
    member.tell({ kind: 'link-unreachable' })
    member.close()
  }

  #apply({ services, instances, nodes }: RouteChange): void {
    const { routes } = this.#options
    for (const id of nodes) this.#setNode(id)
    const touched = new Set(services)
    for (const uuid of instances) {
      const member = this.#leased.get(uuid)
      member?.tell({ kind: 'news' })
      const instance = routes.instance(uuid)
      if (instance !== undefined) touched.add(instance.serviceUuid)
      else member?.leave(this.#limits.leftMs)
    }
    // An instance that left the routes leaves no trace of its service, so all services are updated. Few
    // services have ever been asked for.
    const left = [...instances].some((uuid) => routes.instance(uuid) === undefined) || nodes.size > 0
    for (const [uuid, versions] of this.#services) {
      const service = routes.service(uuid)
      if (service === undefined) {
        this.#services.delete(uuid)
        versions.close()
      } else if (left || touched.has(uuid)) this.#update(versions, service)
    }
    this.#sweep(instances)
  }

  /** Forgets instances that have left the routes and have nothing in flight. */
  #sweep(instances: Iterable<string>): void {
    for (const uuid of instances) {
      const member = this.#leased.get(uuid)
      if (member === undefined || member.inFlight > 0) continue
      if (member.phase !== GatewayLeasePhase.Closed && this.#hosts.has(member.nodeId)) continue
      if (this.#options.routes.instance(uuid) !== undefined) continue
      this.#leased.delete(uuid)
      this.#hosts.get(member.nodeId)?.leased.delete(uuid)
      member.close()
    }
  }

  #setNode(id: string): void {
    const node = this.#options.routes.node(id)
    const host = this.#hosts.get(id)
    if (host !== undefined) {
      const { agentUrl, trafficSecret } = host.link.node
      if (node?.agentUrl === agentUrl && node.trafficSecret === trafficSecret) return
      host.link.close()
      for (const member of host.leased.values()) member.tell({ kind: 'link-lost' })
      if (node === undefined) {
        for (const member of host.leased.values()) member.tell({ kind: 'link-away' })
        this.#hosts.delete(id)
        return
      }
    }
    if (node !== undefined) this.#connect(node, host?.link.signs)
  }

  /**
   * Leased instances outlive their host's entry in the routes. The next host that joins under the same id is
   * asked for their leases.
   */
  #connect(node: RouteNode, signs?: HostSigns): void {
    const leased = new Map([...this.#leased].filter(([, { nodeId }]) => nodeId === node.id))
    const all = (event: LinkEvent, state: HostConnection): void => {
      host.state = state
      for (const member of leased.values()) member.tell(event)
    }
    const link = new HostLink({
      node,
      gatewayId: this.gatewayId,
      nowMs: this.#nowMs,
      onProblem: (why) => this.#options.onHostProblem?.(node.id, why),
      identity: () => this.#options.identity?.(),
      ...(signs === undefined ? {} : { signs }),
      events: {
        held: () => [...leased.values()].flatMap((member) => member.held() ?? []),
        shares: () =>
          [...leased.values()].flatMap(({ uuid, share }) =>
            share.held === undefined ? [] : [{ instance: uuid, ...share.held }],
          ),
        hear: (message) => this.#hear(host, message),
        lost: () => all({ kind: 'link-lost' }, HostConnection.Lost),
        fellSilent: (how) => all({ kind: `link-${how}` }, linkOf[how]),
        back: () => {
          host.reportAll = true
          all({ kind: 'link-back' }, HostConnection.Up)
        },
      },
    })
    const host: Host = { link, leased, state: HostConnection.Lost, reportAll: true }
    this.#hosts.set(node.id, host)
  }

  #hear(host: Host, message: HostMessage): void {
    if (message.kind === 'welcome' || message.kind === 'beat') return
    if (message.kind === 'report') this.#tellCounts(host, message.number)
    else host.leased.get(message.instance)?.hear(message)
  }

  #tellCounts(host: Host, number: number): void {
    if (host.reportAll) this.#reportTo(host)
    const counts = [...host.leased.values()].flatMap((member) => member.meter.counts() ?? [])
    for (const part of inParts(counts)) host.link.send({ kind: 'counts', counts: part })
    host.link.send({ kind: 'reported', number })
  }

  #report(): void {
    for (const host of this.#hosts.values()) if (host.link.connected) this.#reportTo(host)
    this.#sweep(this.#leased.keys())
  }

  #reportTo(host: Host): void {
    const loads = [...host.leased.values()].flatMap((member) => member.meter.load(host.reportAll) ?? [])
    host.reportAll = false
    for (const part of inParts(loads)) host.link.send({ kind: 'load', loads: part })
  }
}

function userOf({ uuid, userUuid }: RouteService): string {
  return userUuid ?? uuid
}

function inParts<T>(all: readonly T[]): readonly (readonly T[])[] {
  const parts = Math.ceil(all.length / maxLoadsPerLine)
  return Array.from({ length: parts }, (_, index) =>
    all.slice(index * maxLoadsPerLine, (index + 1) * maxLoadsPerLine),
  )
}
