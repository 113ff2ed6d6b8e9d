import type { AutoscaleOutcome } from './outcome.ts'
import { Standing, isOfSize, sizeOf } from './members.ts'
import type { AutoscaleMember } from './members.ts'
import { InstanceState } from '../instance/state.ts'

/** A member with its present standing. */
export type StandingMember = AutoscaleMember & { readonly standing: Standing }

export interface Alignment {
  /** The number of members that are kept and count for the size. */
  readonly size: number
  /** The members that are given back; never the master. */
  readonly retire: readonly RetiringMember[]
  /** How many clones have to be added. */
  readonly missing: number
}

/** The result of an alignment. */
export interface AlignedSize {
  /** How many instances count for the size after the alignment. */
  readonly size: number
  /** The size that autoscale aims at after the alignment. */
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
 * The shortest drain of a clone that is given back. So a request that was already on its way when the
 * gateways learned of the drain is still answered.
 */
export const leastDrainMs = 500

/** How long the open requests and connections of a clone that is given back may last. */
export const Drain = {
  /** The clone serves nobody, so it need not drain. */
  None: 'none',
  Cooldown: 'cooldown',
  /** The clone's user has asked it to drain: it drains for the time that the user gave. */
  AsAsked: 'as asked',
} as const
export type Drain = (typeof Drain)[keyof typeof Drain]

/**
 * Plans how to reach `target` from the given members. A clone that is down or failed is always given back.
 * So is a clone that the cause names as failed and that has not recovered since. If there are too many
 * members, those that serve nobody are given back first: those that start, then those that sleep, then the
 * youngest. But no surplus is given back while failed members are replaced, because nobody has checked
 * whether the others serve. `members` are in the order in which they were made.
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
 * The size that is wanted after an alignment, within its bounds. If policies asked for instances that could
 * not be added, these are no longer wanted; the policies ask again if need be. Instances that replace failed
 * ones, or those of a host that is gone, stay wanted all the while.
 */
export function targetAfter(
  aligned: Pick<AlignedSize, 'size' | 'target' | 'refusal'>,
  { cause, minSize }: { readonly cause: AutoscaleOutcome['kind']; readonly minSize: number },
): number {
  const { size, target, refusal } = aligned
  return cause === 'resize' && refusal !== undefined ? Math.min(target, Math.max(size, minSize)) : target
}

/** Whether a clone is given back: by its standing, and by whether it was found failed a moment ago. */
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
  // Any other member that starts is being woken, and somebody waits for it.
  const isNew = state === InstanceState.Starting && (startCount <= 1 || restartAttempt > 0)
  if (isNew || standing === Standing.Restarting) return 0
  return standing === Standing.Asleep ? 1 : 2
}
