import type { EntityManager } from '@mikro-orm/postgresql'
import { footprintMb } from '../../domain/host/memory-room.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import { addressesPerSubnet, addressIndexes, privateAddress } from '../../domain/host/private-address.ts'
import { promisedFootprintSql, readMemoryRoom } from '../host/memory.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'

/** Where a new instance goes: its host and its address there. */
export interface Placement {
  readonly nodeId: string
  readonly privateIp: string
}

export interface WantedPlacements {
  readonly count: number
  readonly memoryMb: number
  /** They start at once, so their host needs the memory now. */
  readonly starting: boolean
  /**
   * One that exists draws its instance to its host; a new one, of which each instance gets its own, needs
   * room there.
   */
  readonly volume?:
    | { readonly existing: { readonly name: string; readonly nodeId: string } }
    | { readonly made: { readonly sizeMb: number } }
}

interface Candidate {
  readonly id: string
  readonly subnet: string
  readonly nextAddress: number
  /** Beside all that may run at any moment: by this they are spread. */
  freeMemoryMb: number
  /**
   * For what starts now. At first as if all that sleep ran, which is quick to know; exact where that is not
   * enough.
   */
  roomMb: number
  /** Less than nothing where the host's disk shrank. */
  freeVolumeMb: number
}

/** Addresses looked at in one query beyond those that are needed: most of a window is free. */
const addressWindow = 256

/**
 * Places `count` instances, each on the live host with most free memory at its turn among those that have or
 * can take its volume, and takes their addresses. The hosts' rows stay locked until the commit, always in the
 * same order, so that neither an address nor room is given out twice. Throws `Refused`.
 */
export async function placeInstances(
  em: EntityManager,
  wanted: WantedPlacements,
): Promise<readonly Placement[]> {
  const candidates = await lockCandidates(em, wanted.volume)
  if (wanted.starting) await measureRoom(em, candidates, footprintMb(wanted.memoryMb) * wanted.count)
  const placements: Placement[] = []
  for (const [node, count] of spread(candidates, wanted)) {
    const addresses = await takeAddresses(em, node, count)
    if (!addresses) throw new Refused({ kind: 'no-address' })
    placements.push(...addresses.map((privateIp) => ({ nodeId: node.id, privateIp })))
  }
  return placements
}

/**
 * A place for one more that starts now: on the host with most free memory among those that have the memory
 * and an address. Locks as `placeInstances`; throws `Refused` where no host is live.
 */
export async function placeWithRoom(em: EntityManager, memoryMb: number): Promise<Placement | RoomRefusal> {
  const candidates = (await lockCandidates(em)).toSorted(
    (one, other) => other.freeMemoryMb - one.freeMemoryMb,
  )
  const neededMb = footprintMb(memoryMb)
  await measureRoom(em, candidates, neededMb)
  for (const node of candidates.filter(({ roomMb }) => roomMb >= neededMb)) {
    const [privateIp] = (await takeAddresses(em, node, 1)) ?? []
    if (privateIp !== undefined) return { nodeId: node.id, privateIp }
  }
  return { neededMb, roomiestMb: roomiest(candidates) }
}

/** No host has the memory, or those that have it have no address. */
export interface RoomRefusal {
  /** What one more takes. */
  readonly neededMb: number
  /** What is free on the host with most of it. */
  readonly roomiestMb: number
}

/** The live host with most room for volumes, whose row stays locked until the commit. Throws `Refused`. */
export async function placeVolume(em: EntityManager, sizeMb: number): Promise<string> {
  const candidates = await lockCandidates(em)
  const node = candidates.reduce((best, next) => (next.freeVolumeMb > best.freeVolumeMb ? next : best))
  if (node.freeVolumeMb < sizeMb) throw new Refused(noRoom(candidates, { sizeMb, count: 1 }))
  return node.id
}

/** At least one. */
async function lockCandidates(
  em: EntityManager,
  volume?: WantedPlacements['volume'],
): Promise<readonly Candidate[]> {
  const only = volume !== undefined && 'existing' in volume ? volume.existing : undefined
  const live = await em.execute<{ id: string }[]>(
    `select id from nodes where heartbeat_at > now() - make_interval(secs => ?)
       ${only === undefined ? '' : 'and id = ?'} order by id for update`,
    [nodeSilentAfterMs / 1_000, ...(only === undefined ? [] : [only.nodeId])],
  )
  if (live.length > 0) return readCandidates(em, live)
  if (only === undefined) throw new Refused(await noNode(em))
  throw new Refused({ kind: 'volume-host-silent', name: only.name, nodeId: only.nodeId })
}

async function noNode(em: EntityManager): Promise<WriteRefusal> {
  const [last] = await em.execute<{ heardAt: Date | string | null }[]>(
    'select max(heartbeat_at) as "heardAt" from nodes',
  )
  const heardAt = last?.heardAt ?? undefined
  return { kind: 'no-node', ...(heardAt === undefined ? {} : { heardAt: new Date(heardAt) }) }
}

/**
 * A statement of its own: one that had waited for the locks would add up what stood there before it waited.
 * Instances and volumes that are deleted but not yet removed still have their place, so they are counted.
 */
async function readCandidates(
  em: EntityManager,
  locked: readonly { readonly id: string }[],
): Promise<readonly Candidate[]> {
  return em.execute<Candidate[]>(
    `select id, subnet, next_address as "nextAddress",
       memory_mb - (select coalesce(sum(i.memory_mb), 0)::int from instances i
         where i.node_id = nodes.id and i.state <> 'stopped') as "freeMemoryMb",
       memory_mb - ${promisedFootprintSql} as "roomMb",
       volume_mb - (select coalesce(sum(v.size_mb), 0)::int from volumes v
         where v.node_id = nodes.id) as "freeVolumeMb"
     from nodes where id in (${locked.map(() => '?').join(', ')}) order by id`,
    locked.map(({ id }) => id),
  )
}

/**
 * Sleepers keep nobody from the memory that they do not have; asked only where there is not enough beside
 * them.
 */
async function measureRoom(
  em: EntityManager,
  candidates: readonly Candidate[],
  neededMb: number,
): Promise<void> {
  if (candidates.some(({ roomMb }) => roomMb >= neededMb)) return
  const rooms = await readMemoryRoom(
    em,
    candidates.map(({ id }) => id),
  )
  for (const node of candidates) node.roomMb = rooms.get(node.id) ?? 0
}

function roomiest(candidates: readonly Candidate[]): number {
  return Math.max(0, ...candidates.map(({ roomMb }) => roomMb))
}

/** How many go to each host. What does not start needs no memory yet. */
function spread(candidates: readonly Candidate[], wanted: WantedPlacements): ReadonlyMap<Candidate, number> {
  const sizeMb = wanted.volume !== undefined && 'made' in wanted.volume ? wanted.volume.made.sizeMb : 0
  const neededMb = wanted.starting ? footprintMb(wanted.memoryMb) : 0
  const full = noRoom(candidates, { sizeMb, count: wanted.count })
  const { count } = wanted
  const noMemory = { kind: 'no-memory-room', neededMb, count, roomiestMb: roomiest(candidates) } as const
  const counts = new Map<Candidate, number>()
  for (let index = 0; index < wanted.count; index++) {
    const roomy = candidates.filter(({ freeVolumeMb }) => sizeMb === 0 || freeVolumeMb >= sizeMb)
    if (roomy.length === 0) throw new Refused(full)
    const fitting = roomy.filter(({ roomMb }) => neededMb === 0 || roomMb >= neededMb)
    if (fitting.length === 0) throw new Refused(noMemory)
    const node = fitting.reduce((best, next) => (next.freeMemoryMb > best.freeMemoryMb ? next : best))
    node.freeMemoryMb -= wanted.memoryMb
    node.roomMb -= neededMb
    node.freeVolumeMb -= sizeMb
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  return counts
}

function noRoom(
  candidates: readonly Candidate[],
  asked: { readonly sizeMb: number; readonly count: number },
): WriteRefusal {
  const roomiestMb = Math.max(0, ...candidates.map(({ freeVolumeMb }) => freeVolumeMb))
  return { kind: 'no-volume-room', ...asked, roomiestMb }
}

/** The next free addresses after the last one given out; undefined when there are not as many. */
async function takeAddresses(
  em: EntityManager,
  node: Candidate,
  count: number,
): Promise<readonly string[] | undefined> {
  const free: number[] = []
  let from = node.nextAddress
  for (let seen = 0; seen < addressesPerSubnet && free.length < count; seen += addressWindow) {
    const window = addressIndexes(from, Math.min(addressWindow, addressesPerSubnet - seen))
    const taken = await takenAddresses(em, node, window)
    free.push(...window.filter((index) => !taken.has(privateAddress(node.subnet, index))))
    from = (window.at(-1) ?? from) + 1
  }
  if (free.length < count) return undefined
  const chosen = free.slice(0, count)
  await em.execute('update nodes set next_address = ? where id = ?', [chosen.at(-1)! + 1, node.id], 'run')
  return chosen.map((index) => privateAddress(node.subnet, index))
}

async function takenAddresses(
  em: EntityManager,
  node: Candidate,
  window: readonly number[],
): Promise<ReadonlySet<string>> {
  const addresses = window.map((index) => privateAddress(node.subnet, index))
  const rows = await em.execute<{ privateIp: string }[]>(
    `select private_ip as "privateIp" from instances
     where node_id = ? and private_ip in (${addresses.map(() => '?').join(', ')})`,
    [node.id, ...addresses],
  )
  return new Set(rows.map((row) => row.privateIp))
}
