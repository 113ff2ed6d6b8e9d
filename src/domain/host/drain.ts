/**
 * The drain of a host: its instances move to other hosts, some at a time and round by round, until nothing is
 * left on it. The host's workflow does that as long as the host is heard (`loss.ts`).
 */

/** The pause after a round in which some could not move. */
const drainAgainAfterMs = 15_000
/** The pause while nothing is left that can move. Instances that are being deleted are gone soon. */
const leavingWaitMs = 5_000
/** How many instances that can not move are named. */
const mostStuckTold = 10

/** What is on the host, and since when it is to be empty. */
export interface DrainFacts {
  readonly drainingAtMs: number | undefined
  /**
   * The instances without a volume, those with one, which moves with them, and those that are being
   * deleted.
   */
  readonly moving: number
  readonly staying: number
  readonly leaving: number
}

/** How far a drain is. The workflow keeps it. Plain JSON. */
export interface DrainTold {
  /** When the drain began. */
  readonly atMs: number
  /** How many moved away since then. */
  readonly moved: number
  /** Some of those that could not move in this round, or in the last one. */
  readonly stuck: readonly StuckInstance[]
  /** The last instance that was tried in the round that is under way. */
  readonly after?: string
  /** When the last round ended, if some could not move in it. */
  readonly stuckAtMs?: number
}

export interface StuckInstance {
  readonly name: string
  readonly why: string
}

/** What became of some instances of a draining host. */
export interface DrainPage {
  readonly moved: number
  readonly stuck: readonly StuckInstance[]
  /** The last one that was tried in this round. */
  readonly after: string | undefined
  /** Whether all were tried in this round. */
  readonly isOver: boolean
}

export type DrainStep =
  | { readonly kind: 'wait'; readonly ms: number }
  /** Moves some of its instances to other hosts. */
  | { readonly kind: 'drain'; readonly after: string | undefined }
  /** Nothing is left on it: it is cordoned, and the drain is over. */
  | { readonly kind: 'end-drain' }

export function decideDrain(facts: DrainFacts, drain: DrainTold | undefined, nowMs: number): DrainStep {
  const { moving, staying, leaving } = facts
  if (moving + staying > 0) {
    const { stuckAtMs, after } = drainOf(facts, drain)
    const leftMs = stuckAtMs === undefined ? 0 : stuckAtMs + drainAgainAfterMs - nowMs
    return leftMs > 0 ? { kind: 'wait', ms: leftMs } : { kind: 'drain', after }
  }
  return leaving > 0 ? { kind: 'wait', ms: leavingWaitMs } : { kind: 'end-drain' }
}

/** What is known of this drain; an earlier one counts no more. */
export function drainOf({ drainingAtMs = 0 }: DrainFacts, drain: DrainTold | undefined): DrainTold {
  return drain?.atMs === drainingAtMs ? drain : { atMs: drainingAtMs, moved: 0, stuck: [] }
}

/** What is known of the drain after a page of a round. */
export function drainedAfter(
  facts: DrainFacts,
  before: DrainTold | undefined,
  page: DrainPage & { readonly nowMs: number },
): DrainTold {
  const { atMs, moved, stuck, after: began } = drainOf(facts, before)
  const { after, isOver, nowMs } = page
  const all = [...(began === undefined ? [] : stuck), ...page.stuck].slice(0, mostStuckTold)
  const told = { atMs, moved: moved + page.moved, stuck: all }
  if (!isOver) return { ...told, ...(after !== undefined && { after }) }
  return { ...told, ...(all.length > 0 && { stuckAtMs: nowMs }) }
}
