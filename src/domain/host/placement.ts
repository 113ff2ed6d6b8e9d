import { footprintMb } from './memory-room.ts'

/**
 * Where new instances and volumes go. Instances, replicas, clones, new versions of a rollout and volumes are
 * all placed by `chooseHosts`.
 *
 * 1. A host needs room for a new volume, and for the memory of an instance that starts now. Nothing else
 *    forbids a host.
 * 2. A host that was heard lately comes before one that was not.
 * 3. A host that has fewer instances of the same kind comes first: those of the same version of the same
 *    service, and those of the same request.
 * 4. A host that would have the larger share left of its scarcest resource comes first. What is promised
 *    counts, so stopped and sleeping instances count as well.
 * 5. The lower id comes first.
 */

/** A host that may get something new, as the rows tell it. */
export interface PlacementHost {
  readonly id: string
  /** Whether it was heard within `placementSilentAfterMs`. */
  readonly isHeard: boolean
  /** The memory that all its VMs may take together. */
  readonly memoryMb: number
  /** The footprints of all its instances, whatever their state. */
  readonly promisedMemoryMb: number
  /** How many processors it has. Null: its agent is of an earlier version and does not tell. */
  readonly cpus: number | null
  /** The vCPUs of all its instances, whatever their state. */
  readonly promisedVcpus: number
  /** The memory left for instances that start now. */
  readonly roomMb: number
  /** The room for all its volumes together. It may be less than is promised if the disk shrank. */
  readonly volumeMb: number
  readonly promisedVolumeMb: number
  /** How many instances of the same version of the same service it has. */
  readonly alike: number
}

/** What one host has to take: an instance, a new volume, or an instance with a new volume. */
export interface PlacementWish {
  readonly instance?: {
    readonly memoryMb: number
    readonly vcpus: number
    /** Whether it starts at once, so that its host needs the memory now. */
    readonly starts: boolean
  }
  /** The size of the new volume. Absent: there is none. */
  readonly volumeMb?: number
}

/** What the chosen host had promised before, for explanations. */
export interface PromisedRoom {
  readonly promisedMemoryMb: number
  readonly memoryMb: number
  readonly promisedVcpus: number
  /** Absent: not known. */
  readonly cpus?: number
}

/** Why an instance is on its host. Plain JSON, kept with the instance. */
export type PlacementReason =
  /** Its volume, which was there before it, is on this host. */
  | { readonly kind: 'volume'; readonly volume: string }
  /** The host on which it was before is lost. */
  | { readonly kind: 'lost'; readonly nodeId: string }
  /** It moved there from this host, and kept its private address. */
  | { readonly kind: 'moved'; readonly nodeId: string }
  /** No other host took anything new. */
  | { readonly kind: 'only' }
  /** Of so many hosts, no other had room for it. */
  | { readonly kind: 'fits'; readonly hosts: number }
  /** Of so many hosts with room, no other was heard lately. */
  | { readonly kind: 'heard'; readonly hosts: number }
  /** Of so many hosts, no other had fewer instances of the same kind, and some had more. */
  | { readonly kind: 'spread'; readonly hosts: number; readonly alike: number; readonly room: PromisedRoom }
  /** Of so many hosts, no other would have had a larger share left. */
  | { readonly kind: 'room'; readonly hosts: number; readonly room: PromisedRoom }

export interface ChosenHost<Host> {
  readonly host: Host
  readonly reason: PlacementReason
}

/** What no host has enough of. */
export type PlacementLack = 'volume-room' | 'memory-room'

export type HostsChoice<Host> =
  | { readonly ok: true; readonly chosen: readonly ChosenHost<Host>[] }
  | { readonly ok: false; readonly lack: PlacementLack }

/**
 * How many vCPUs one processor may be promised to until it counts as full. Instances share processors, and
 * most wait for something most of the time. With 1, some small instances would fill the processors of every
 * host, and memory would never decide.
 */
export const vcpusPerProcessor = 4

/**
 * Chooses a host for each of `count` equal wishes, one after the other. Each choice counts for the next ones.
 * Either all find a host or none does. There is at least one host.
 */
export function chooseHosts<Host extends PlacementHost>(
  hosts: readonly Host[],
  wish: PlacementWish,
  count: number,
): HostsChoice<Host> {
  const chosen: ChosenHost<Host>[] = []
  let present: readonly Host[] = hosts
  for (let index = 0; index < count; index++) {
    const choice = chooseHost(present, wish)
    if (typeof choice === 'string') return { ok: false, lack: choice }
    chosen.push(choice)
    present = present.map((host) => (host.id === choice.host.id ? withWish(host, wish) : host))
  }
  return { ok: true, chosen }
}

/**
 * The hosts for one wish in the order of preference, at most `most`. Each but the first is chosen as if those
 * before it had got something as large. So if other placements have some of these hosts right now, the first
 * that is left is the one that would be chosen after them. What they place is never of the same service,
 * because a user's placements run one after the other. Empty: no host has room.
 */
export function preferHosts<Host extends PlacementHost>(
  hosts: readonly Host[],
  wish: PlacementWish,
  most: number,
): readonly ChosenHost<Host>[] {
  const preferred = new Map<string, ChosenHost<Host>>()
  let present: readonly Host[] = hosts
  while (preferred.size < most) {
    const choice = chooseHost(present, wish)
    if (typeof choice === 'string' || preferred.has(choice.host.id)) break
    preferred.set(choice.host.id, choice)
    present = present.map((host) =>
      host.id === choice.host.id ? { ...withWish(host, wish), alike: host.alike } : host,
    )
  }
  return [...preferred.values()]
}

function chooseHost<Host extends PlacementHost>(
  hosts: readonly Host[],
  wish: PlacementWish,
): ChosenHost<Host> | PlacementLack {
  const roomy = hosts.filter((host) => hasVolumeRoom(host, wish))
  if (roomy.length === 0) return 'volume-room'
  const fitting = roomy.filter((host) => hasMemoryRoom(host, wish))
  if (fitting.length === 0) return 'memory-room'
  const heard = fitting.filter(({ isHeard }) => isHeard)
  const able = heard.length > 0 ? heard : fitting
  const fewest = Math.min(...able.map(({ alike }) => alike))
  const spread = able.filter(({ alike }) => alike === fewest)
  const host = spread.reduce((best, next) => (comesBefore(next, best, wish) ? next : best))
  return { host, reason: reasonOf(host, { hosts, fitting, able, spread }) }
}

/** Whether a host has room for what is wished for. */
export function fits(host: PlacementHost, wish: PlacementWish): boolean {
  return hasVolumeRoom(host, wish) && hasMemoryRoom(host, wish)
}

function hasVolumeRoom(host: PlacementHost, { volumeMb = 0 }: PlacementWish): boolean {
  return volumeMb === 0 || host.volumeMb - host.promisedVolumeMb >= volumeMb
}

function hasMemoryRoom(host: PlacementHost, { instance }: PlacementWish): boolean {
  return instance?.starts !== true || host.roomMb >= footprintMb(instance.memoryMb)
}

function comesBefore(one: PlacementHost, other: PlacementHost, wish: PlacementWish): boolean {
  const [share, otherShare] = [leftShare(one, wish), leftShare(other, wish)]
  return share === otherShare ? one.id < other.id : share > otherShare
}

/**
 * The share of the host's scarcest resource that is left once it has what is wished for. Only resources that
 * the wish needs count. It is negative where more is promised than there is.
 */
function leftShare(host: PlacementHost, { instance, volumeMb = 0 }: PlacementWish): number {
  const shares: number[] = []
  if (instance !== undefined) {
    shares.push(leftOf(host.memoryMb, host.promisedMemoryMb + footprintMb(instance.memoryMb)))
    if (host.cpus !== null)
      shares.push(leftOf(host.cpus * vcpusPerProcessor, host.promisedVcpus + instance.vcpus))
  }
  if (volumeMb > 0) shares.push(leftOf(host.volumeMb, host.promisedVolumeMb + volumeMb))
  return Math.min(...shares)
}

/**
 * The share of the host's scarcest resource, memory or processors, that is promised to instances. It is more
 * than 1 where more is promised than there is.
 */
export function fullness({
  memoryMb,
  promisedMemoryMb,
  cpus,
  promisedVcpus,
}: Pick<PlacementHost, 'memoryMb' | 'promisedMemoryMb' | 'cpus' | 'promisedVcpus'>): number {
  const left = leftOf(memoryMb, promisedMemoryMb)
  return 1 - (cpus === null ? left : Math.min(left, leftOf(cpus * vcpusPerProcessor, promisedVcpus)))
}

/** Of a resource that a host has nothing of, the one that promised less of it still comes first. */
function leftOf(total: number, promised: number): number {
  return 1 - promised / Math.max(1, total)
}

/** The steps of a choice. Each has the hosts that were left after it. */
interface Narrowing {
  readonly hosts: readonly PlacementHost[]
  readonly fitting: readonly PlacementHost[]
  readonly able: readonly PlacementHost[]
  readonly spread: readonly PlacementHost[]
}

/** The reason is the first step that left one host, or else what the hosts were compared by last. */
function reasonOf(host: PlacementHost, { hosts, fitting, able, spread }: Narrowing): PlacementReason {
  if (hosts.length === 1) return { kind: 'only' }
  if (fitting.length === 1) return { kind: 'fits', hosts: hosts.length }
  if (able.length === 1) return { kind: 'heard', hosts: fitting.length }
  const compared = { hosts: able.length, room: promisedRoom(host) }
  return spread.length < able.length
    ? { kind: 'spread', alike: host.alike, ...compared }
    : { kind: 'room', ...compared }
}

function promisedRoom({ promisedMemoryMb, memoryMb, promisedVcpus, cpus }: PlacementHost): PromisedRoom {
  return { promisedMemoryMb, memoryMb, promisedVcpus, ...(cpus !== null && { cpus }) }
}

/** The host as it is once it has what was wished for. */
export function withWish<Host extends PlacementHost>(host: Host, wish: PlacementWish): Host {
  return withWishes(host, wish, 1)
}

/** The host as it is once it has what was wished for no more. */
export function withoutWish<Host extends PlacementHost>(host: Host, wish: PlacementWish): Host {
  return withWishes(host, wish, -1)
}

function withWishes<Host extends PlacementHost>(
  host: Host,
  { instance, volumeMb = 0 }: PlacementWish,
  count: 1 | -1,
): Host {
  const mb = instance === undefined ? 0 : footprintMb(instance.memoryMb)
  return {
    ...host,
    promisedMemoryMb: host.promisedMemoryMb + count * mb,
    promisedVcpus: host.promisedVcpus + count * (instance?.vcpus ?? 0),
    roomMb: host.roomMb - count * (instance?.starts === true ? mb : 0),
    promisedVolumeMb: host.promisedVolumeMb + count * volumeMb,
    alike: host.alike + count * (instance === undefined ? 0 : 1),
  }
}
