import { nodeSilentAfterMs } from './api-protocol.ts'
import { decideDrain } from './drain.ts'
import type { DrainStep, DrainTold } from './drain.ts'
import { lostAfterMs } from './term.ts'

/**
 * What the workflow of a host does. It runs as long as the host is not heard, or is emptied:
 *
 *   heard ──(not heard for `unheardAfterMs`)──► silent ──(term and margin are over)──► lost
 *    ▲ ▲                                         │                                      │
 *    │ └────────────────(heard)──────────────────┴───(heard, and has cleared up)────────┘
 *    └──(nothing is left on it, or the drain is taken back)── draining ◄──(an administrator drains it)── heard
 *
 * A drain waits while its host is silent, and what a lost host had begins elsewhere anyway.
 *
 * A host without a term goes on with its VMs, so its silence never makes it lost; only an administrator
 * does. A lost host that an administrator removed does not come back: its row goes when nothing is on it.
 */
export const HostPhase = { Heard: 'heard', Draining: 'draining', Silent: 'silent', Lost: 'lost' } as const
export type HostPhase = (typeof HostPhase)[keyof typeof HostPhase]

/** After this time without a heartbeat, which are five that are missing, somebody looks after the host. */
export const unheardAfterMs = 5_000
/** The longest wait for a silent host, so that its return is seen soon. */
const longestSilentWaitMs = 5_000
/** The wait while the watch can not say for how long the host was not heard. */
const unsureWaitMs = 1_000
/** The pause between two looks while instances begin elsewhere. Some wait for room then, and this is all. */
const movingWaitMs = 1_000
/** The pause between two looks while nothing happens but that the host may come back. */
const stayingWaitMs = 30_000
/** How long what a removed host does not do any more takes in its stead: some steps of workflows. */
const cleaningWaitMs = 2_000
/** How long after the end of a round those are told again that are left. */
const tellAgainAfterMs = 30_000
/** Instances that wait for their volumes only have to be told once. They are told so rarely again. */
const tellAllAgainAfterMs = 600_000

/** What a watch saw of a host. */
export interface WatchedTerm {
  /** The last heartbeat that it saw. */
  readonly heartbeatAtMs: number
  /** For how long it has seen no other one, while it could read. */
  readonly unheardMs: number
  /** Whether it saw an earlier one. Else it may have been silent for longer. */
  readonly wasHeard: boolean
}

/** What is known of a host. */
export interface HostFacts {
  readonly id: string
  readonly heartbeatAtMs: number
  readonly termMs: number | undefined
  readonly loss: number
  readonly lostAtMs: number | undefined
  /** Whether an administrator removed it as lost, so that it never comes back. */
  readonly isRemoved: boolean
  /** Since when an administrator wants it to be emptied. */
  readonly drainingAtMs: number | undefined
  /**
   * For how long the watch of this process has seen no heartbeat. Undefined: it can not say, because it began
   * just now, or could not read.
   */
  readonly unheardMs: number | undefined
  /** Whether it saw one before that. Else it may have been silent for longer. */
  readonly wasHeard: boolean
  /** The instances on it without a volume, which begin on other hosts if it is lost. */
  readonly moving: number
  /** The instances on it with a volume, which wait for it if it is lost. */
  readonly staying: number
  /** The instances on it that are being deleted. */
  readonly leaving: number
  readonly volumes: number
  /** Those of them that are being deleted. */
  readonly leavingVolumes: number
}

/** Where a round of telling instances stands. Instances are told in the order of rank and UUID. */
export interface TellCursor {
  readonly rank: number
  readonly uuid: string
}

/** What the instances of a lost host were told. The workflow keeps it. Plain JSON. */
export interface LossTold {
  readonly loss: number
  /** When the last round ended; absent before the end of the first. */
  readonly atMs?: number
  /** When the last round ended that told all. */
  readonly allAtMs?: number
  /** The round that is under way. */
  readonly round?: { readonly isOfAll: boolean; readonly after?: TellCursor }
  /** The most instances that had to begin elsewhere. */
  readonly moving: number
}

export type HostStep =
  | { readonly kind: 'over' }
  /** With `cleans`, what is being deleted is told first that the host does not come back. */
  | { readonly kind: 'wait'; readonly ms: number; readonly cleans?: true }
  | { readonly kind: 'declare' }
  | { readonly kind: 'tell'; readonly round: NonNullable<LossTold['round']> }
  | { readonly kind: 'forget' }
  | DrainStep

/** What the workflow keeps of a host between two looks. */
export interface HostTold {
  readonly told?: LossTold | undefined
  readonly drain?: DrainTold | undefined
}

export function hostPhase(facts: HostFacts): HostPhase {
  if (facts.lostAtMs !== undefined) return HostPhase.Lost
  const { termMs, unheardMs, wasHeard, drainingAtMs } = facts
  const isSilent =
    termMs !== undefined && !(wasHeard && unheardMs !== undefined && unheardMs < unheardAfterMs)
  if (isSilent) return HostPhase.Silent
  return drainingAtMs === undefined ? HostPhase.Heard : HostPhase.Draining
}

/** What is to be done about the host now. `nowMs` is the clock by which `told` was noted. */
export function decideHost(facts: HostFacts, told: HostTold, nowMs: number): HostStep {
  return byPhase[hostPhase(facts)](facts, told, nowMs)
}

const byPhase = {
  [HostPhase.Heard]: () => ({ kind: 'over' }),
  [HostPhase.Draining]: (facts, { drain }, nowMs) => decideDrain(facts, drain, nowMs),
  [HostPhase.Silent]: (facts) => {
    const leftMs = untilLostMs(facts)
    if (leftMs === undefined) return { kind: 'wait', ms: unsureWaitMs }
    if (leftMs <= 0) return { kind: 'declare' }
    return { kind: 'wait', ms: Math.min(leftMs, longestSilentWaitMs) }
  },
  [HostPhase.Lost]: (facts, { told }, nowMs) => {
    const round = roundNow(facts, told, nowMs)
    if (round !== undefined) return { kind: 'tell', round }
    if (facts.isRemoved) return decideRemoved(facts)
    return { kind: 'wait', ms: facts.moving > 0 ? movingWaitMs : stayingWaitMs }
  },
} satisfies Record<HostPhase, (facts: HostFacts, told: HostTold, nowMs: number) => HostStep>

/** How long it takes until a silent host counts as lost. Undefined: nobody can say. */
export function untilLostMs({ termMs, unheardMs }: HostFacts): number | undefined {
  if (termMs === undefined || unheardMs === undefined) return undefined
  return lostAfterMs(termMs) - unheardMs
}

function decideRemoved(facts: HostFacts): HostStep {
  const { moving, staying, leaving, volumes, leavingVolumes, termMs, unheardMs } = facts
  if (leaving + leavingVolumes > 0) return { kind: 'wait', ms: cleaningWaitMs, cleans: true }
  if (moving > 0) return { kind: 'wait', ms: movingWaitMs }
  if (staying + volumes > 0) return { kind: 'wait', ms: stayingWaitMs }
  // As long as its VMs may run, no host may come under its id: it might renew their term.
  const goneAfterMs = lostAfterMs(termMs ?? nodeSilentAfterMs)
  if (unheardMs === undefined || unheardMs < goneAfterMs) return { kind: 'wait', ms: cleaningWaitMs }
  return { kind: 'forget' }
}

/** The round of telling that is due or under way. */
function roundNow(
  { loss, moving, staying, leaving }: HostFacts,
  told: LossTold | undefined,
  nowMs: number,
): LossTold['round'] {
  const count = moving + staying + leaving
  if (told === undefined || told.loss !== loss) return count === 0 ? undefined : { isOfAll: true }
  if (told.round !== undefined) return told.round
  const { atMs, allAtMs } = told
  if (count > 0 && (allAtMs === undefined || nowMs - allAtMs >= tellAllAgainAfterMs)) return { isOfAll: true }
  if (moving > 0 && (atMs === undefined || nowMs - atMs >= tellAgainAfterMs)) return { isOfAll: false }
  return undefined
}

/**
 * What was told after one page of a round. Without `after`, the round is over.
 */
export function toldAfter(
  facts: HostFacts,
  before: LossTold | undefined,
  page: { readonly isOfAll: boolean; readonly after: TellCursor | undefined; readonly nowMs: number },
): LossTold {
  const known = before?.loss === facts.loss ? before : undefined
  const { isOfAll, after, nowMs } = page
  const { round: _, ...kept } = known ?? {}
  const moving = Math.max(known?.moving ?? 0, facts.moving)
  const told = { ...kept, loss: facts.loss, moving }
  if (after !== undefined) return { ...told, round: { isOfAll, after } }
  return { ...told, atMs: nowMs, ...(isOfAll && { allAtMs: nowMs }) }
}
