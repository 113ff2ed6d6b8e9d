import type { AutoscaleOutcome } from './outcome.ts'
import { Standing, isOfSize, sizeOf } from './members.ts'
import type { AutoscaleMember } from './members.ts'
import { InstanceState } from '../instance/state.ts'

/** A member as it is taken for now. */
export type StandingMember = AutoscaleMember & { readonly standing: Standing }

export interface Alignment {
  /** Those that stay and are of the size. */
  readonly size: number
  /** Those that go; never the master. */
  readonly retire: readonly RetiringMember[]
  /** How many are missing. */
  readonly missing: number
}

/** What aligning came to. */
export interface AlignedSize {
  /** Instances of the size afterwards. */
  readonly size: number
  /** What is wanted from then on. */
  readonly target: number
  readonly refusal?: string
  readonly closing?: true
}

export interface RetiringMember {
  readonly uuid: string
  readonly name: string
  readonly drain: Drain
}

/**
 * So long a clone drains in any case: a request that is on its way to it when its gateways hear of it is
 * still answered.
 */
export const leastDrainMs = 500

/** How long what is open at a clone that goes may last. */
export const Drain = {
  /** It serves nobody. */
  None: 'none',
  Cooldown: 'cooldown',
  /** Its user has it drain: for as long as he gave it. */
  AsAsked: 'as asked',
} as const
export type Drain = (typeof Drain)[keyof typeof Drain]

/**
 * What makes the instances there are `target`. Clones that are down or failed go in any case, and those that
 * the cause names as failed and that did not recover meanwhile. Of those that are too many, who serves nobody
 * goes first: what starts, then what sleeps, then what is youngest; but nobody with those who failed, as
 * nobody has looked whether the others serve. `members` are in the order in which they were made.
 */
export function planAlignment(
  members: readonly StandingMember[],
  { target, cause }: { readonly target: number; readonly cause?: AutoscaleOutcome },
): Alignment {
  const isReplacing = cause?.kind === 'replace'
  const failed = new Set(isReplacing ? cause.failed.map(({ uuid }) => uuid) : [])
  const isLost = ({ uuid, isMaster, standing }: StandingMember): boolean =>
    !isMaster && isGoing[standing](failed.has(uuid))
  const lost = members.filter(isLost)
  const kept = members.filter((member) => !isLost(member))
  const size = sizeOf(kept)
  const surplus = kept
    .filter((member) => !member.isMaster && isOfSize(member))
    .toReversed()
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .slice(0, isReplacing ? 0 : Math.max(0, size - target))
  return {
    size: size - surplus.length,
    retire: [
      ...lost.map(({ uuid, name, state }) => ({ uuid, name, drain: lastDrain(state) })),
      ...surplus.map(({ uuid, name }) => ({ uuid, name, drain: Drain.Cooldown })),
    ],
    missing: Math.max(0, target - size),
  }
}

/**
 * What is wanted once an alignment is over, within its bounds. What policies asked for and could not be had
 * is not wanted unless they say it again; who is missing because it failed, or its host is gone, is wanted
 * all the while.
 */
export function targetAfter(
  aligned: Pick<AlignedSize, 'size' | 'target' | 'refusal'>,
  { cause, minSize }: { readonly cause: AutoscaleOutcome['kind']; readonly minSize: number },
): number {
  const { size, target, refusal } = aligned
  return cause === 'resize' && refusal !== undefined ? Math.min(target, Math.max(size, minSize)) : target
}

/** Of a clone, and whether it was found failed a moment ago. */
const isGoing = {
  [Standing.Counted]: () => false,
  [Standing.Asleep]: () => false,
  [Standing.Warming]: (wasFailed) => wasFailed,
  [Standing.Restarting]: (wasFailed) => wasFailed,
  [Standing.Failed]: () => true,
  [Standing.Down]: () => true,
  [Standing.Away]: () => false,
} satisfies Record<Standing, (wasFailed: boolean) => boolean>

function lastDrain(state: InstanceState): Drain {
  return state === InstanceState.Draining ? Drain.AsAsked : Drain.None
}

function rankOf({ state, standing, startCount, restartAttempt }: StandingMember): number {
  // One that starts otherwise is woken, and somebody waits for it.
  const isNew = state === InstanceState.Starting && (startCount <= 1 || restartAttempt > 0)
  if (isNew || standing === Standing.Restarting) return 0
  return standing === Standing.Asleep ? 1 : 2
}
