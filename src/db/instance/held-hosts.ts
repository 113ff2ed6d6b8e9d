import { chooseHosts, preferHosts } from '../../domain/host/placement.ts'
import type { ChosenHost, HostsChoice, PlacementWish } from '../../domain/host/placement.ts'
import { LockSet, takeAll, takeFirstFree } from '../locks.ts'
import type { Db } from '../schema/tables.ts'
import { savepoint } from '../sql/savepoint.ts'
import { measureRoom, openHosts, readAlike, readCandidates } from './placement-candidates.ts'
import type { Candidate, CandidatesWanted } from './placement-candidates.ts'
import type { RememberedHosts } from './remembered-hosts.ts'

/** What is placed, and on which hosts it may be. */
export interface HostsWanted extends CandidatesWanted {
  readonly wish: PlacementWish
  readonly count: number
  /** The memory that one host needs to have free for all of it. Absent: nothing starts now. */
  readonly startingMb?: number
  /** Hosts that are not to be chosen, because they have no address left. */
  readonly except?: readonly string[]
  /** Where hosts may be looked up, and are noted. Absent: they are read. */
  readonly remembered?: RememberedHosts | undefined
}

/** The choice, with all hosts among which it was made. */
export type HeldHosts = HostsChoice<Candidate> & { readonly candidates: readonly Candidate[] }

/**
 * How many hosts a placement tries to get without waiting. The API has ten connections to the database, so
 * few more placements than that run at once.
 */
const mostPreferred = 8
/** How often a placement chooses anew because its host became full or closed. Then it holds all hosts. */
const mostTries = 3

/**
 * Chooses hosts and holds them until the commit: until then no other placement gets room or an address there.
 * Placements on other hosts go on beside it, and so do heartbeats.
 *
 * Hosts are read and chosen without a lock, because locks on all hosts would let one placement run at a time.
 * The chosen host is locked and read again. If it is full or closed by then, the choice is made anew. If
 * another placement holds it, the next host in the order of preference is taken, which would be the choice
 * after that placement. If all of these are held, this waits for the first.
 *
 * The first choice may be made among remembered hosts, because the chosen one is read again in any case.
 *
 * A transaction that holds a host waits for no other, except by `holdEveryHost`, so that no two transactions
 * wait for each other. Throws `Refused` if no host may be chosen.
 */
export async function holdHosts(db: Db, wanted: HostsWanted): Promise<HeldHosts> {
  let ids = await openIds(db, wanted)
  if (ids.length > 1) await savepoint('set').execute(db)
  for (let tries = 0; tries < mostTries && ids.length > 1; tries++) {
    const recalled = tries === 0 ? await recallHosts(db, ids, wanted) : undefined
    const candidates = recalled ?? (await readAllRooms(db, ids, wanted))
    const choice = chooseHosts(candidates, wanted.wish, wanted.count)
    if (!choice.ok && recalled !== undefined) continue
    if (!choice.ok && candidates.length > 0) return { ...choice, candidates }
    const chosen = choice.ok && (await holdChosen(db, { candidates, chosen: choice.chosen }, wanted))
    if (chosen) {
      wanted.remembered?.note(
        chosen.map(({ host }) => host),
        wanted.wish,
      )
      return { ok: true, chosen, candidates }
    }
    await savepoint('return').execute(db)
    ids = await openIds(db, wanted)
  }
  return await holdAll(db, ids, wanted)
}

/** Has to be called before `holdHosts` if `releaseHosts` may be called after it. */
export async function beginHolding(db: Db): Promise<void> {
  await savepoint('set').execute(db)
}

/** Gives back the hosts that `holdHosts` held last, within the same transaction. */
export async function releaseHosts(db: Db): Promise<void> {
  await savepoint('return').execute(db)
}

/** Holds every host that may be chosen, for a transaction that places several things one after the other. */
export async function holdEveryHost(db: Db): Promise<void> {
  await takeAll(db, LockSet.Placements, await openHosts(db, {}))
}

async function openIds(db: Db, wanted: HostsWanted): Promise<readonly string[]> {
  const open = await openHosts(db, wanted)
  return wanted.except === undefined ? open : open.filter((id) => !wanted.except!.includes(id))
}

async function holdAll(db: Db, ids: readonly string[], wanted: HostsWanted): Promise<HeldHosts> {
  await takeAll(db, LockSet.Placements, ids)
  const candidates = await readHeldRooms(db, ids, wanted)
  // The hosts were closed while this waited. The question for open hosts says why.
  if (candidates.length === 0 && ids.length > 0) return await holdAll(db, await openIds(db, wanted), wanted)
  return { ...chooseHosts(candidates, wanted.wish, wanted.count), candidates }
}

async function recallHosts(
  db: Db,
  ids: readonly string[],
  wanted: HostsWanted,
): Promise<readonly Candidate[] | undefined> {
  const hosts = wanted.remembered?.recall(ids)
  return hosts && (await withAlike(db, hosts, wanted))
}

async function readAllRooms(
  db: Db,
  ids: readonly string[],
  wanted: HostsWanted,
): Promise<readonly Candidate[]> {
  const hosts = await readCandidates(db, ids, { group: undefined, locked: false })
  wanted.remembered?.remember(hosts)
  return await withRoom(db, await withAlike(db, hosts, wanted), wanted)
}

/** Adds what the hosts have of the group. One query for all is quicker than one for each of many hosts. */
async function withAlike(
  db: Db,
  hosts: readonly Candidate[],
  { group }: HostsWanted,
): Promise<readonly Candidate[]> {
  if (group === undefined) return hosts.map((host) => ({ ...host, alike: 0 }))
  const alike = await readAlike(db, group)
  return hosts.map((host) => ({ ...host, alike: alike.get(host.id) ?? 0 }))
}

/** Locks the hosts, and reads what is exactly so. */
async function readHeldRooms(
  db: Db,
  ids: readonly string[],
  wanted: HostsWanted,
): Promise<readonly Candidate[]> {
  const candidates = await readCandidates(db, ids, { group: wanted.group, locked: true })
  return await withRoom(db, candidates, wanted)
}

async function withRoom(
  db: Db,
  candidates: readonly Candidate[],
  { startingMb }: HostsWanted,
): Promise<readonly Candidate[]> {
  return startingMb === undefined ? candidates : await measureRoom(db, candidates, startingMb)
}

type Chosen = readonly ChosenHost<Candidate>[]

/** Returns undefined if one of the chosen hosts turned out to be full or closed. */
async function holdChosen(
  db: Db,
  { candidates, chosen }: { readonly candidates: readonly Candidate[]; readonly chosen: Chosen },
  wanted: HostsWanted,
): Promise<Chosen | undefined> {
  const held = wanted.count === 1 ? [await holdPreferred(db, candidates, wanted)] : chosen
  const ids = [...new Set(held.map(({ host }) => host.id))]
  if (wanted.count > 1) await takeAll(db, LockSet.Placements, ids)
  const now = await readHeldRooms(db, ids, wanted)
  const present = new Map(now.map((host) => [host.id, host]))
  for (const [id, onHost] of Map.groupBy(held, ({ host }) => host.id)) {
    const host = present.get(id)
    if (host === undefined || !chooseHosts([host], wanted.wish, onHost.length).ok) return undefined
  }
  return held.map(({ host, reason }) => ({ host: present.get(host.id)!, reason }))
}

async function holdPreferred(
  db: Db,
  candidates: readonly Candidate[],
  { wish }: HostsWanted,
): Promise<ChosenHost<Candidate>> {
  const preferred = preferHosts(candidates, wish, mostPreferred)
  const ids = preferred.map(({ host }) => host.id)
  const free = await takeFirstFree(db, LockSet.Placements, ids)
  if (free === undefined) await takeAll(db, LockSet.Placements, ids.slice(0, 1))
  return preferred.find(({ host }) => host.id === free) ?? preferred[0]!
}
