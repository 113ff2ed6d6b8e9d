import { footprintMb } from '../../domain/host/memory-room.ts'
import type {
  ChosenHost,
  PlacementLack,
  PlacementReason,
  PlacementWish,
} from '../../domain/host/placement.ts'
import { addressesPerSubnet, addressIndexes, privateAddress } from '../../domain/host/private-address.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { beginHolding, holdHosts, releaseHosts } from './held-hosts.ts'
import type { Candidate, PlacementGroup } from './placement-candidates.ts'
import type { RememberedHosts } from './remembered-hosts.ts'

/** The placement of a new instance: its host, why that was chosen, and its private address there. */
export interface Placement {
  readonly nodeId: string
  readonly privateIp: string
  /** Null if the installation has no other host, so that there is nothing to explain. */
  readonly reason: PlacementReason | null
}

interface WantedInstance {
  readonly memoryMb: number
  readonly vcpus: number
  /** Absent: they have no service. Instances of one request are spread all the same. */
  readonly group?: PlacementGroup
}

export interface WantedPlacements extends WantedInstance {
  readonly count: number
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

/**
 * How many addresses the first query checks beyond those that are needed. Addresses are given out one after
 * the other, so those that come next are free as a rule.
 */
const spareAddresses = 8
/** How many addresses each further query checks. */
const addressWindow = 256

/**
 * Places `count` instances as `chooseHosts` decides, and takes their addresses. If the volume exists already,
 * only its host is chosen. The chosen hosts are held until the commit (`holdHosts`), so that neither
 * an address nor room is given out twice. Throws `Refused`.
 */
export async function placeInstances(
  db: Db,
  wanted: WantedPlacements,
  remembered?: RememberedHosts,
): Promise<readonly Placement[]> {
  const { count, memoryMb, vcpus, starting, volume, group } = wanted
  const made = volume !== undefined && 'made' in volume ? volume.made.sizeMb : undefined
  const wish: PlacementWish = {
    instance: { memoryMb, vcpus, starts: starting },
    ...(made !== undefined && { volumeMb: made }),
  }
  const choice = await holdHosts(db, {
    wish,
    count,
    only: existingIn(volume),
    group,
    ...(starting && { startingMb: footprintMb(memoryMb) * count }),
    remembered,
  })
  if (!choice.ok) throw new Refused(refusalOf(choice.lack, choice.candidates, { wish, count }))
  const placements: Placement[] = []
  for (const onHost of Map.groupBy(choice.chosen, ({ host }) => host.id).values()) {
    const addresses = await takeAddresses(db, onHost[0]!.host, onHost.length)
    if (!addresses) throw new Refused({ kind: 'no-address' })
    placements.push(...addresses.map((privateIp, index) => placed(onHost[index]!, privateIp, volume)))
  }
  return placements
}

function existingIn(volume: WantedPlacements['volume']) {
  return volume !== undefined && 'existing' in volume ? volume.existing : undefined
}

function placed(
  { host, reason }: ChosenHost<Candidate>,
  privateIp: string,
  volume?: WantedPlacements['volume'],
): Placement {
  const nodeId = host.id
  const existing = existingIn(volume)
  if (existing !== undefined) return { nodeId, privateIp, reason: { kind: 'volume', volume: existing.name } }
  return { nodeId, privateIp, reason: host.isAlone ? null : reason }
}

/**
 * Places one more instance that starts now. If the host that `chooseHosts` decides for has no free address,
 * the next one is chosen. Holds hosts like `placeInstances`. Throws `Refused` if no host may be chosen.
 */
export async function placeWithRoom(
  db: Db,
  { memoryMb, vcpus, group }: WantedInstance,
): Promise<Placement | RoomRefusal> {
  const neededMb = footprintMb(memoryMb)
  const wish = { instance: { memoryMb, vcpus, starts: true } }
  const except: string[] = []
  let roomiestMb = 0
  await beginHolding(db)
  for (;;) {
    const choice = await holdHosts(db, { wish, count: 1, group, startingMb: neededMb, except })
    roomiestMb = Math.max(roomiestMb, roomiest(choice.candidates))
    if (!choice.ok) return { neededMb, roomiestMb }
    const [chosen] = choice.chosen
    const [privateIp] = (await takeAddresses(db, chosen!.host, 1)) ?? []
    if (privateIp !== undefined) return placed(chosen!, privateIp)
    await releaseHosts(db)
    except.push(chosen!.host.id)
  }
}

/** No host has enough memory, or those that have enough have no free address. */
export interface RoomRefusal {
  /** The memory that one more instance needs. */
  readonly neededMb: number
  /** The largest memory that a host has left for instances that start now. */
  readonly roomiestMb: number
}

/** Chooses the host of a new volume and holds it until the commit. Throws `Refused`. */
export async function placeVolume(db: Db, sizeMb: number): Promise<string> {
  const wish = { volumeMb: sizeMb }
  const choice = await holdHosts(db, { wish, count: 1 })
  if (!choice.ok) throw new Refused(refusalOf(choice.lack, choice.candidates, { wish, count: 1 }))
  return choice.chosen[0]!.host.id
}

function roomiest(candidates: readonly Candidate[]): number {
  return Math.max(0, ...candidates.map(({ roomMb }) => roomMb))
}

/** Says what is missing, and how much of it the hosts had before anything was placed. */
function refusalOf(
  lack: PlacementLack,
  candidates: readonly Candidate[],
  { wish, count }: { readonly wish: PlacementWish; readonly count: number },
): WriteRefusal {
  if (lack === 'memory-room') {
    const neededMb = footprintMb(wish.instance?.memoryMb ?? 0)
    return { kind: 'no-memory-room', neededMb, count, roomiestMb: roomiest(candidates) }
  }
  const free = candidates.map(({ volumeMb, promisedVolumeMb }) => volumeMb - promisedVolumeMb)
  return { kind: 'no-volume-room', sizeMb: wish.volumeMb ?? 0, count, roomiestMb: Math.max(0, ...free) }
}

/**
 * The next `count` free addresses after the last one that was given out. Undefined if fewer are free. The
 * host is held.
 */
export async function takeAddresses(
  db: Db,
  node: Candidate,
  count: number,
): Promise<readonly string[] | undefined> {
  const free: { readonly index: number; readonly address: string }[] = []
  const all = addressesPerSubnet(node.subnet)
  let from = node.nextAddress
  let most = count + spareAddresses
  for (let seen = 0; seen < all && free.length < count; most = addressWindow) {
    const window = addressIndexes(node.subnet, from, Math.min(most, all - seen)).map((index) => ({
      index,
      address: privateAddress(node.subnet, index),
    }))
    const taken = await takenAddresses(
      db,
      node,
      window.map(({ address }) => address),
    )
    free.push(...window.filter(({ address }) => !taken.has(address)))
    seen += window.length
    from = (window.at(-1)?.index ?? from) + 1
  }
  if (free.length < count) return undefined
  const chosen = free.slice(0, count)
  const nextAddress = chosen.at(-1)!.index + 1
  await db.updateTable('nodes').set({ nextAddress }).where('id', '=', node.id).execute()
  return chosen.map(({ address }) => address)
}

/**
 * Those of the host's addresses that an instance has: one there, as its own address or as its seat, or one
 * that moved to another host and kept its address.
 */
async function takenAddresses(
  db: Db,
  node: Candidate,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const own = db.selectFrom('instances').where('nodeId', '=', node.id)
  const rows = await own
    .where('privateIp', '=', anyOf(addresses))
    .select('privateIp as address')
    .unionAll(
      own.where('seatIp', '=', anyOf(addresses)).select((eb) => eb.ref('seatIp').$notNull().as('address')),
    )
    .unionAll(
      db
        .selectFrom('instances')
        .where('seatIp', 'is not', null)
        .where('privateIp', '=', anyOf(addresses))
        .select('privateIp as address'),
    )
    .execute()
  return new Set(rows.map(({ address }) => address))
}
