import { InstanceState } from '../../domain/instance/state.ts'
import { footprintMb } from '../../domain/host/memory-room.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import { addressesPerSubnet, addressIndexes, privateAddress } from '../../domain/host/private-address.ts'
import { total } from '../sum.ts'
import { promisedFootprintMb, readMemoryRoom } from '../host/memory.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { constant } from '../sql/constants.ts'
import { anyOf } from '../sql/lists.ts'
import { ago } from '../sql/time.ts'

/** The placement of a new instance: its host and its private address there. */
export interface Placement {
  readonly nodeId: string
  readonly privateIp: string
}

export interface WantedPlacements {
  readonly count: number
  readonly memoryMb: number
  /** Whether the instances start at once, so that their host needs the memory now. */
  readonly starting: boolean
  /**
   * An existing volume decides the host of its instance. New volumes, one for each instance, need room on
   * the host.
   */
  readonly volume?:
    | { readonly existing: { readonly name: string; readonly nodeId: string } }
    | { readonly made: { readonly sizeMb: number } }
}

interface Candidate {
  readonly id: string
  readonly subnet: string
  readonly nextAddress: number
  /**
   * The memory that would be left if all instances that are not stopped ran. New instances go to the host
   * that has most of it.
   */
  freeMemoryMb: number
  /**
   * The memory left for instances that start now. At first sleeping instances count as if they ran, because
   * that is a quick query. If no host has enough room then, `measureRoom` makes this number exact.
   */
  roomMb: number
  /** The room left for volumes. Negative if the host's disk shrank. */
  freeVolumeMb: number
}

/** How many addresses one query checks. Most addresses are free as a rule, so one query finds enough. */
const addressWindow = 256

/**
 * Places `count` instances one by one and takes their addresses. Each goes to the live host that has most
 * free memory at that moment, among the hosts that are not cordoned and have room for the instance and its
 * volume. If the volume exists already, only its host is chosen. The hosts' rows are locked in a fixed order
 * until the commit, so that neither an address nor room is given out twice. Throws `Refused`.
 */
export async function placeInstances(db: Db, wanted: WantedPlacements): Promise<readonly Placement[]> {
  const candidates = await lockCandidates(db, wanted.volume)
  if (wanted.starting) await measureRoom(db, candidates, footprintMb(wanted.memoryMb) * wanted.count)
  const placements: Placement[] = []
  for (const [node, count] of spread(candidates, wanted)) {
    const addresses = await takeAddresses(db, node, count)
    if (!addresses) throw new Refused({ kind: 'no-address' })
    placements.push(...addresses.map((privateIp) => ({ nodeId: node.id, privateIp })))
  }
  return placements
}

/**
 * Places one more instance that starts now, on the host with most free memory among those that have enough
 * of it and a free address. Locks like `placeInstances`. Throws `Refused` if no host may be chosen.
 */
export async function placeWithRoom(db: Db, memoryMb: number): Promise<Placement | RoomRefusal> {
  const candidates = (await lockCandidates(db)).toSorted(
    (one, other) => other.freeMemoryMb - one.freeMemoryMb,
  )
  const neededMb = footprintMb(memoryMb)
  await measureRoom(db, candidates, neededMb)
  for (const node of candidates.filter(({ roomMb }) => roomMb >= neededMb)) {
    const [privateIp] = (await takeAddresses(db, node, 1)) ?? []
    if (privateIp !== undefined) return { nodeId: node.id, privateIp }
  }
  return { neededMb, roomiestMb: roomiest(candidates) }
}

/** No host has enough memory, or those that have enough have no free address. */
export interface RoomRefusal {
  /** The memory that one more instance needs. */
  readonly neededMb: number
  /** The largest memory that a host has left for instances that start now. */
  readonly roomiestMb: number
}

/**
 * The live host that is not cordoned and has most room for volumes. Its row stays locked until the commit.
 * Throws `Refused`.
 */
export async function placeVolume(db: Db, sizeMb: number): Promise<string> {
  const candidates = await lockCandidates(db)
  const node = candidates.reduce((best, next) => (next.freeVolumeMb > best.freeVolumeMb ? next : best))
  if (node.freeVolumeMb < sizeMb) throw new Refused(noRoom(candidates, { sizeMb, count: 1 }))
  return node.id
}

/** Locks and reads the hosts that may be chosen. There is at least one; otherwise this throws `Refused`. */
async function lockCandidates(db: Db, volume?: WantedPlacements['volume']): Promise<readonly Candidate[]> {
  const only = volume !== undefined && 'existing' in volume ? volume.existing : undefined
  const open = await db
    .selectFrom('nodes')
    .select('id')
    .where('heartbeatAt', '>', ago(nodeSilentAfterMs))
    .where('cordonedAt', 'is', null)
    .$if(only !== undefined, (query) => query.where('id', '=', only!.nodeId))
    .orderBy('id')
    .forUpdate()
    .execute()
  if (open.length > 0) return readCandidates(db, open)
  throw new Refused(only === undefined ? await noNode(db) : await closedHost(db, only))
}

async function closedHost(
  db: Db,
  { name, nodeId }: { readonly name: string; readonly nodeId: string },
): Promise<WriteRefusal> {
  const isCordoned = await hasLiveCordoned(db, nodeId)
  return { kind: isCordoned ? 'volume-host-cordoned' : 'volume-host-silent', name, nodeId }
}

async function noNode(db: Db): Promise<WriteRefusal> {
  if (await hasLiveCordoned(db)) return { kind: 'all-cordoned' }
  const last = await db
    .selectFrom('nodes')
    .select((eb) => eb.fn.max('heartbeatAt').as('heardAt'))
    .executeTakeFirst()
  return { kind: 'no-node', ...(last?.heardAt && { heardAt: last.heardAt }) }
}

/** Whether a host that is heard, or this one, is cordoned. */
async function hasLiveCordoned(db: Db, nodeId?: string): Promise<boolean> {
  const cordoned = await db
    .selectFrom('nodes')
    .select('id')
    .where('heartbeatAt', '>', ago(nodeSilentAfterMs))
    .where('cordonedAt', 'is not', null)
    .$if(nodeId !== undefined, (query) => query.where('id', '=', nodeId!))
    .executeTakeFirst()
  return cordoned !== undefined
}

/**
 * Reads the locked hosts in a statement of its own, because a statement that waits for locks sums up rows as
 * they were before it waited. Instances and volumes that are deleted but not yet removed still hold their
 * room, so they count.
 */
async function readCandidates(
  db: Db,
  locked: readonly { readonly id: string }[],
): Promise<readonly Candidate[]> {
  return db
    .selectFrom('nodes')
    .select((eb) => {
      const running = eb
        .selectFrom('instances')
        .whereRef('instances.nodeId', '=', 'nodes.id')
        .where('instances.state', '<>', constant(InstanceState.Stopped))
        .select((of) => total(of, 'instances.memoryMb').as('mb'))
      const kept = eb
        .selectFrom('volumes')
        .whereRef('volumes.nodeId', '=', 'nodes.id')
        .select((of) => total(of, 'volumes.sizeMb').as('mb'))
      return [
        'id',
        'subnet',
        'nextAddress',
        eb('memoryMb', '-', running.$asScalar().$notNull()).as('freeMemoryMb'),
        eb('memoryMb', '-', promisedFootprintMb(eb)).as('roomMb'),
        eb('volumeMb', '-', kept.$asScalar().$notNull()).as('freeVolumeMb'),
      ]
    })
    .where('id', '=', anyOf(locked.map(({ id }) => id)))
    .orderBy('id')
    .execute()
}

/**
 * Makes `roomMb` exact: sleeping instances hold no memory, so they do not count any more. Only done if no
 * host has enough room while they count.
 */
async function measureRoom(db: Db, candidates: readonly Candidate[], neededMb: number): Promise<void> {
  if (candidates.some(({ roomMb }) => roomMb >= neededMb)) return
  const rooms = await readMemoryRoom(
    db,
    candidates.map(({ id }) => id),
  )
  for (const node of candidates) node.roomMb = rooms.get(node.id) ?? 0
}

function roomiest(candidates: readonly Candidate[]): number {
  return Math.max(0, ...candidates.map(({ roomMb }) => roomMb))
}

/** How many instances go to each host. Instances that do not start need no memory yet. */
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

/** The next `count` free addresses after the last one that was given out. Undefined if fewer are free. */
async function takeAddresses(db: Db, node: Candidate, count: number): Promise<readonly string[] | undefined> {
  const free: number[] = []
  let from = node.nextAddress
  const all = addressesPerSubnet(node.subnet)
  for (let seen = 0; seen < all && free.length < count; seen += addressWindow) {
    const window = addressIndexes(node.subnet, from, Math.min(addressWindow, all - seen))
    const taken = await takenAddresses(db, node, window)
    free.push(...window.filter((index) => !taken.has(privateAddress(node.subnet, index))))
    from = (window.at(-1) ?? from) + 1
  }
  if (free.length < count) return undefined
  const chosen = free.slice(0, count)
  const nextAddress = chosen.at(-1)! + 1
  await db.updateTable('nodes').set({ nextAddress }).where('id', '=', node.id).execute()
  return chosen.map((index) => privateAddress(node.subnet, index))
}

async function takenAddresses(
  db: Db,
  node: Candidate,
  window: readonly number[],
): Promise<ReadonlySet<string>> {
  const addresses = window.map((index) => privateAddress(node.subnet, index))
  const rows = await db
    .selectFrom('instances')
    .select('privateIp')
    .where('nodeId', '=', node.id)
    .where('privateIp', '=', anyOf(addresses))
    .execute()
  return new Set(rows.map((row) => row.privateIp))
}
