import { isDeepStrictEqual } from 'node:util'
import type {
  RouteCertificate,
  RouteChallenge,
  RouteInstance,
  RouteKind,
  RouteLine,
  RouteMetro,
  RouteNode,
  RouteService,
} from '../domain/service/route-feed.ts'
import type { RouteChange, Routes, RouteSink } from './routes.ts'

/**
 * The largest number of entries in one block. It is more than a stack ever has: without it, a block without
 * an end would fill the memory.
 */
export const maxBlockLines = 1_000_000

/** Thrown if a line comes out of the order that the feed promises. Its reader has to connect again. */
export class FeedOrderError extends Error {
  override readonly name = 'FeedOrderError'
}

type EntryLine = Exclude<RouteLine, { readonly kind: 'begin' | 'end' | 'beat' }>

/** The kinds of entries that this gateway knows. A newer API may send others. */
const knownKinds = {
  service: true,
  instance: true,
  node: true,
  certificate: true,
  challenge: true,
  metro: true,
} as const satisfies Record<RouteKind, true>

interface Block {
  readonly snapshot: boolean
  readonly lines: EntryLine[]
}

type Changed = { readonly [Kind in keyof RouteChange]: Set<string> }

const noInstances: readonly RouteInstance[] = []

/**
 * The gateway's routes in memory. The changes of a block become visible all at once, with its `end`. A
 * block that a lost connection cut short has no effect: the next connection begins a new block.
 */
export class RouteTable implements Routes, RouteSink {
  readonly #services = new Map<string, RouteService>()
  readonly #instances = new Map<string, RouteInstance>()
  readonly #nodes = new Map<string, RouteNode>()
  readonly #certificates = new Map<string, RouteCertificate>()
  /** Challenges by token. */
  readonly #challenges = new Map<string, RouteChallenge>()
  /** Certificates of metro domains, by domain. */
  readonly #metros = new Map<string, RouteMetro>()
  /** UUIDs of the rollouts that services have. */
  readonly #rollouts = new Set<string>()
  /** UUIDs of services by domain; wildcards keep their `*.`. */
  readonly #hosts = new Map<string, string>()
  readonly #members = new Map<string, Map<string, RouteInstance>>()
  /**
   * The instances of each service, as arrays. An array is replaced and never changed, because readers may
   * be iterating over it.
   */
  readonly #attached = new Map<string, readonly RouteInstance[]>()
  /** Services whose array is out of date; filled only within `#end`. */
  readonly #regrouped = new Set<string>()
  readonly #listeners = new Set<(change: RouteChange) => void>()
  readonly #builtIn: ReadonlySet<string>
  #block: Block | undefined
  #revision: string | undefined

  /** A built-in service is served whatever the feed contains, keeps its names, and is not among `lines`. */
  constructor(options: { readonly builtIn?: readonly RouteService[] } = {}) {
    const { builtIn = [] } = options
    this.#builtIn = new Set(builtIn.map(({ uuid }) => uuid))
    for (const service of builtIn) {
      this.#services.set(service.uuid, service)
      for (const { fqdn } of service.domains) this.#hosts.set(fqdn, service.uuid)
    }
  }

  get revision(): string | undefined {
    return this.#revision
  }

  serviceOf(host: string): RouteService | undefined {
    const uuid = this.#hosts.get(host) ?? this.#wildcardOf(host)
    return uuid === undefined ? undefined : this.#services.get(uuid)
  }

  service(uuid: string): RouteService | undefined {
    return this.#services.get(uuid)
  }

  hasRollout(uuid: string): boolean {
    return this.#rollouts.has(uuid)
  }

  services(): Iterable<RouteService> {
    return this.#services.values()
  }

  instancesOf(serviceUuid: string): readonly RouteInstance[] {
    return this.#attached.get(serviceUuid) ?? noInstances
  }

  instance(uuid: string): RouteInstance | undefined {
    return this.#instances.get(uuid)
  }

  node(id: string): RouteNode | undefined {
    return this.#nodes.get(id)
  }

  nodes(): Iterable<RouteNode> {
    return this.#nodes.values()
  }

  certificate(uuid: string): RouteCertificate | undefined {
    return this.#certificates.get(uuid)
  }

  challenge(token: string): RouteChallenge | undefined {
    return this.#challenges.get(token)
  }

  challenges(): Iterable<RouteChallenge> {
    return this.#challenges.values()
  }

  /** The certificate of a metro domain, if the API knows it. */
  metro(domain: string): RouteMetro | undefined {
    return this.#metros.get(domain)
  }

  onChange(listener: (change: RouteChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Applies one line. A line of an unknown kind has no effect. Throws `FeedOrderError`. */
  apply(line: RouteLine): void {
    if (line.kind === 'begin') this.#block = { snapshot: line.snapshot, lines: [] }
    else if (line.kind === 'end') this.#end(line.revision)
    else if (isKnownEntry(line)) this.#openBlock().lines.push(line)
  }

  /**
   * The lines of a snapshot of this table, for a reader that knows nothing yet. `apply` would make an equal
   * table of them.
   */
  *lines(): Generator<RouteLine> {
    yield { kind: 'begin', snapshot: true }
    for (const node of this.#nodes.values()) yield { kind: 'node', node }
    for (const certificate of this.#certificates.values()) yield { kind: 'certificate', certificate }
    for (const challenge of this.#challenges.values()) yield { kind: 'challenge', challenge }
    for (const metro of this.#metros.values()) yield { kind: 'metro', metro }
    for (const service of this.#services.values()) {
      if (!this.#builtIn.has(service.uuid)) yield { kind: 'service', service }
    }
    for (const instance of this.#instances.values()) yield { kind: 'instance', instance }
    if (this.#revision !== undefined) yield { kind: 'end', revision: this.#revision }
  }

  #openBlock(): Block {
    if (!this.#block) throw new FeedOrderError('an entry was told outside a block')
    if (this.#block.lines.length >= maxBlockLines) {
      throw new FeedOrderError(`a block has more than ${maxBlockLines} entries`)
    }
    return this.#block
  }

  #end(revision: string): void {
    const { snapshot, lines } = this.#openBlock()
    this.#block = undefined
    const changed: Changed = {
      services: new Set(),
      instances: new Set(),
      nodes: new Set(),
      certificates: new Set(),
      challenges: new Set(),
      metros: new Set(),
    }
    for (const line of lines) this.#take(line, changed)
    if (snapshot) this.#dropUntold(lines, changed)
    this.#regroup()
    this.#revision = revision
    for (const listener of this.#listeners) listener(changed)
  }

  #take(line: EntryLine, changed: Changed): void {
    switch (line.kind) {
      case 'service':
        this.#setService(line.service, changed)
        break
      case 'instance':
        this.#setInstance(line.instance, changed)
        break
      case 'node':
        if (replace(this.#nodes, line.node.id, line.node)) changed.nodes.add(line.node.id)
        break
      case 'certificate':
        if (replace(this.#certificates, line.certificate.uuid, line.certificate))
          changed.certificates.add(line.certificate.uuid)
        break
      case 'challenge':
        if (replace(this.#challenges, line.challenge.token, line.challenge))
          changed.challenges.add(line.challenge.token)
        break
      case 'metro':
        if (replace(this.#metros, line.metro.domain, line.metro)) changed.metros.add(line.metro.domain)
        break
      case 'gone':
        this.#drop(line.what, line.id, changed)
    }
  }

  #setService(service: RouteService, changed: Changed): void {
    const before = this.#services.get(service.uuid)
    if (!replace(this.#services, service.uuid, service)) return
    this.#release(before)
    if (service.rollout !== undefined) this.#rollouts.add(service.rollout.uuid)
    for (const { fqdn } of service.domains) {
      if (!this.#builtIn.has(this.#hosts.get(fqdn) ?? '')) this.#hosts.set(fqdn, service.uuid)
    }
    changed.services.add(service.uuid)
  }

  #setInstance(instance: RouteInstance, changed: Changed): void {
    const before = this.#instances.get(instance.uuid)
    if (!replace(this.#instances, instance.uuid, instance)) return
    this.#detach(before)
    const members = this.#members.get(instance.serviceUuid) ?? new Map<string, RouteInstance>()
    this.#members.set(instance.serviceUuid, members.set(instance.uuid, instance))
    this.#regrouped.add(instance.serviceUuid)
    changed.instances.add(instance.uuid)
  }

  /** Drops the entries that a snapshot did not contain: they no longer exist. */
  #dropUntold(told: readonly EntryLine[], changed: Changed): void {
    const kept: Record<RouteKind, Set<string>> = {
      service: new Set(this.#builtIn),
      instance: new Set(),
      node: new Set(),
      certificate: new Set(),
      challenge: new Set(),
      metro: new Set(),
    }
    for (const line of told) {
      if (line.kind !== 'gone') kept[line.kind].add(idOf(line))
    }
    const tables: readonly (readonly [RouteKind, ReadonlyMap<string, unknown>])[] = [
      ['service', this.#services],
      ['instance', this.#instances],
      ['node', this.#nodes],
      ['certificate', this.#certificates],
      ['challenge', this.#challenges],
      ['metro', this.#metros],
    ]
    for (const [what, table] of tables) {
      for (const id of table.keys()) if (!kept[what].has(id)) this.#drop(what, id, changed)
    }
  }

  #drop(what: RouteKind, id: string, changed: Changed): void {
    switch (what) {
      case 'service':
        this.#release(this.#services.get(id))
        if (this.#services.delete(id)) changed.services.add(id)
        break
      case 'instance':
        this.#detach(this.#instances.get(id))
        if (this.#instances.delete(id)) changed.instances.add(id)
        break
      case 'node':
        if (this.#nodes.delete(id)) changed.nodes.add(id)
        break
      case 'certificate':
        if (this.#certificates.delete(id)) changed.certificates.add(id)
        break
      case 'challenge':
        if (this.#challenges.delete(id)) changed.challenges.add(id)
        break
      case 'metro':
        if (this.#metros.delete(id)) changed.metros.add(id)
    }
  }

  /** Frees the names of a service, except those that another service was given since, and its rollout. */
  #release(service: RouteService | undefined): void {
    if (service?.rollout !== undefined) this.#rollouts.delete(service.rollout.uuid)
    for (const { fqdn } of service?.domains ?? []) {
      if (this.#hosts.get(fqdn) === service?.uuid) this.#hosts.delete(fqdn)
    }
  }

  #detach(instance: RouteInstance | undefined): void {
    if (!instance) return
    this.#members.get(instance.serviceUuid)?.delete(instance.uuid)
    this.#regrouped.add(instance.serviceUuid)
  }

  #regroup(): void {
    for (const serviceUuid of this.#regrouped) {
      const members = this.#members.get(serviceUuid)
      if (members && members.size > 0) this.#attached.set(serviceUuid, [...members.values()])
      else {
        this.#members.delete(serviceUuid)
        this.#attached.delete(serviceUuid)
      }
    }
    this.#regrouped.clear()
  }

  /**
   * Returns the service of the longest wildcard that fits: `*.b.example` is tried before `*.example`. A
   * name has at most 127 labels.
   */
  #wildcardOf(host: string): string | undefined {
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      const found = this.#hosts.get(`*${host.slice(dot)}`)
      if (found !== undefined) return found
    }
    return undefined
  }
}

function isKnownEntry(line: RouteLine): line is EntryLine {
  return Object.hasOwn(knownKinds, line.kind === 'gone' ? line.what : line.kind)
}

/** Returns false if the entry was sent again without a change. */
function replace<Entry>(table: Map<string, Entry>, id: string, entry: Entry): boolean {
  if (isDeepStrictEqual(table.get(id), entry)) return false
  table.set(id, entry)
  return true
}

function idOf(line: Exclude<EntryLine, { readonly kind: 'gone' }>): string {
  if (line.kind === 'service') return line.service.uuid
  if (line.kind === 'instance') return line.instance.uuid
  if (line.kind === 'node') return line.node.id
  if (line.kind === 'metro') return line.metro.domain
  return line.kind === 'challenge' ? line.challenge.token : line.certificate.uuid
}
