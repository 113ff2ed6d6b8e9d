import type { EntityManager } from '@mikro-orm/postgresql'
import { nodeSilentAfterMs } from '../domain/node-protocol.ts'
import { addressesPerSubnet, addressIndexes, privateAddress } from '../domain/private-address.ts'

/** Where a new instance goes: its host and its address there. */
export interface Place {
  readonly nodeId: string
  readonly privateIp: string
}

export type PlacementOutcome =
  | { readonly ok: true; readonly places: readonly Place[] }
  | { readonly ok: false; readonly refusal: 'no-node' | 'no-address' }

interface Candidate {
  readonly id: string
  readonly subnet: string
  readonly nextAddress: number
  freeMemoryMb: number
}

/** Addresses looked at in one query beyond those that are needed: most of a window is free. */
const addressWindow = 256

/**
 * Places `count` instances, each on the live host with most free memory at its turn, and takes their addresses. The
 * hosts' rows stay locked until the commit, always in the same order, so that no address is given out twice.
 */
export async function placeInstances(
  em: EntityManager,
  wanted: { readonly count: number; readonly memoryMb: number },
): Promise<PlacementOutcome> {
  const candidates = await lockLiveNodes(em)
  if (candidates.length === 0) return { ok: false, refusal: 'no-node' }
  const counts = spread(candidates, wanted)
  const places: Place[] = []
  for (const [node, count] of counts) {
    const addresses = await takeAddresses(em, node, count)
    if (!addresses) return { ok: false, refusal: 'no-address' }
    places.push(...addresses.map((privateIp) => ({ nodeId: node.id, privateIp })))
  }
  return { ok: true, places }
}

async function lockLiveNodes(em: EntityManager): Promise<readonly Candidate[]> {
  // Instances that are deleted but not yet removed still have their memory, so they are counted.
  return em.execute<Candidate[]>(
    `select id, subnet, next_address as "nextAddress",
       memory_mb - (select coalesce(sum(i.memory_mb), 0)::int from instances i
         where i.node_id = nodes.id and i.state <> 'stopped') as "freeMemoryMb"
     from nodes where heartbeat_at > now() - make_interval(secs => ?) order by id for update`,
    [nodeSilentAfterMs / 1_000],
  )
}

/** How many go to each host. Memory is no bound here: a start that finds its host full says so. */
function spread(
  candidates: readonly Candidate[],
  wanted: { readonly count: number; readonly memoryMb: number },
): ReadonlyMap<Candidate, number> {
  const counts = new Map<Candidate, number>()
  for (let index = 0; index < wanted.count; index++) {
    const node = candidates.reduce((best, next) => (next.freeMemoryMb > best.freeMemoryMb ? next : best))
    node.freeMemoryMb -= wanted.memoryMb
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  return counts
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
