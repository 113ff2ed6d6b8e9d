import { fits, fullness, withWish, withoutWish } from './placement.ts'
import type { PlacementHost, PlacementWish } from './placement.ts'

/**
 * Which moves make the hosts more equally full, after a machine has joined or many instances were deleted.
 *
 * Again and again the move is taken that brings most: from the fullest host that has a useful one, to the
 * emptiest that may take the instance. Of those that bring the same, one comes first that has no volume or a
 * small one, because that is quick; and then one that needs no memory now, because nobody waits for it.
 *
 * A move never makes its new host as full as the old one was, so no plan moves back what one before it
 * moved. It never brings more instances of one version of a service together than were together before.
 */

/** Hosts whose fullness differs by less are left as they are. */
export const evenWithin = 0.1
/** A move that brings less is not worth the pause. */
const leastGain = 0.005

export interface BalancedInstance {
  readonly uuid: string
  readonly name: string
  readonly nodeId: string
  readonly wish: PlacementWish & Required<Pick<PlacementWish, 'instance'>>
  /** The version of the service that it belongs to. Absent: it belongs to none. */
  readonly kind?: string
  /** Whether it may move now. One that may not only counts on its host. */
  readonly isFree: boolean
}

export interface BalancingMove {
  readonly instance: BalancedInstance
  readonly from: FullnessChange
  readonly to: FullnessChange
}

/** How full a host is before and after a move, if those before it in the plan are over. 1 is full. */
export interface FullnessChange {
  readonly hostId: string
  readonly before: number
  readonly after: number
}

/** At most `most` moves, in the order in which they are to be made. What is on the hosts counts there. */
export function planBalance(
  hosts: readonly PlacementHost[],
  instances: readonly BalancedInstance[],
  most: number,
): readonly BalancingMove[] {
  const moves: BalancingMove[] = []
  let present = hosts
  let placed = instances
  while (moves.length < most) {
    const move = bestMove(present, placed)
    if (move === undefined) break
    moves.push(move)
    const { instance, from, to } = move
    present = present.map((host) => {
      if (host.id === from.hostId) return withoutWish(host, instance.wish)
      return host.id === to.hostId ? withWish(host, instance.wish) : host
    })
    const moved = { ...instance, nodeId: to.hostId, isFree: false }
    placed = placed.map((one) => (one === instance ? moved : one))
  }
  return moves
}

function bestMove(
  hosts: readonly PlacementHost[],
  instances: readonly BalancedInstance[],
): BalancingMove | undefined {
  const byFullness = hosts.toSorted(
    (one, other) => fullness(other) - fullness(one) || (one.id < other.id ? 1 : -1),
  )
  const emptiest = byFullness.at(-1)
  const alike = countAlike(instances)
  for (const from of byFullness) {
    if (fullness(from) - fullness(emptiest!) < evenWithin) return undefined
    const moves = instances
      .filter(({ nodeId, isFree }) => nodeId === from.id && isFree)
      .flatMap((instance) => moveOf(instance, from, { byFullness, alike }) ?? [])
    if (moves.length > 0) return moves.reduce((best, next) => (comesBefore(next, best) ? next : best))
  }
  return undefined
}

interface Present {
  readonly byFullness: readonly PlacementHost[]
  readonly alike: ReadonlyMap<string, number>
}

/** The move of an instance to the emptiest host that may take it, if that is worth the pause. */
function moveOf(
  instance: BalancedInstance,
  from: PlacementHost,
  { byFullness, alike }: Present,
): BalancingMove | undefined {
  const { wish, kind } = instance
  const alikeOn = (hostId: string) => alike.get(`${hostId} ${kind}`) ?? 0
  const to = byFullness.findLast(
    (host) =>
      host.id !== from.id &&
      host.isHeard &&
      fits(host, wish) &&
      (kind === undefined || alikeOn(host.id) < alikeOn(from.id)),
  )
  if (to === undefined) return undefined
  const move = {
    instance,
    from: { hostId: from.id, before: fullness(from), after: fullness(withoutWish(from, wish)) },
    to: { hostId: to.id, before: fullness(to), after: fullness(withWish(to, wish)) },
  }
  return gainOf(move) < leastGain ? undefined : move
}

/** By how much the fuller one of the two hosts is less full afterwards. */
function gainOf({ from, to }: BalancingMove): number {
  return from.before - Math.max(from.after, to.after)
}

function comesBefore(one: BalancingMove, other: BalancingMove): boolean {
  const [gain, otherGain] = [gainOf(one), gainOf(other)]
  if (gain !== otherGain) return gain > otherGain
  const [volumeMb, otherMb] = [volumeOf(one), volumeOf(other)]
  if (volumeMb !== otherMb) return volumeMb < otherMb
  return !one.instance.wish.instance.starts && other.instance.wish.instance.starts
}

function volumeOf({ instance: { wish } }: BalancingMove): number {
  return wish.volumeMb ?? 0
}

/** How many instances of a kind each host has, by the host and the kind. */
function countAlike(instances: readonly BalancedInstance[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { nodeId, kind } of instances) {
    const key = `${nodeId} ${kind}`
    if (kind !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
