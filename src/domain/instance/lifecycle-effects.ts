import { MoveStep, Phase, phaseOf } from './lifecycle-state.ts'
import type { Lifecycle, Move } from './lifecycle-state.ts'
import { changeToTell } from './lifecycle-change.ts'
import { isHeldBack } from './lifecycle-move.ts'
import { goesByItself, problemFreeAtMs } from './lifecycle-moves.ts'
import type { MovedVolume, MovePlace } from './host-work.ts'
import { isDown } from './state.ts'
import { standbyDueAtMs, wakePatienceMs } from './lifecycle-standby.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/** The time between the shutdown signal and the guest's SIGKILL. */
export const shutdownGraceMs = 10_000

export const HostWorkKind = {
  Start: 'start',
  Stop: 'stop',
  Remove: 'remove',
  StandBy: 'stand-by',
  Drain: 'drain',
  Change: 'change',
  Copy: 'copy',
  Hold: 'hold',
  Fetch: 'fetch',
  Take: 'take',
  Release: 'release',
} as const
export type HostWorkKind = (typeof HostWorkKind)[keyof typeof HostWorkKind]

export type HostWork =
  | { readonly kind: typeof HostWorkKind.Start; readonly boot: number }
  | {
      readonly kind: typeof HostWorkKind.Stop
      readonly boot: number
      readonly forced: boolean
      readonly graceMs: number
    }
  | { readonly kind: typeof HostWorkKind.Remove }
  | {
      readonly kind: typeof HostWorkKind.StandBy
      readonly boot: number
      readonly epoch: number
      readonly permit: number
      readonly stateful: boolean
      readonly graceMs: number
      readonly drainMs?: number
      readonly hold?: MovePlace
      readonly volume?: MovedVolume
    }
  | { readonly kind: typeof HostWorkKind.Drain; readonly boot: number }
  | {
      readonly kind: typeof HostWorkKind.Change
      readonly version: number
      readonly scaleToZero: ScaleToZero
      readonly renew: boolean
    }
  | MoveWork

/** All work but the steps of a move. */
export type StayWork = Exclude<HostWork, MoveWork>

/**
 * `atMs` names the move. `runs` is the boot whose volume is copied. `held` is the boot that slept or ended;
 * the `boot` of other work is asked for.
 */
export type MoveWork = { readonly atMs: number } & (
  | {
      /** Asked of both hosts: the old one offers the volume, and the new one copies it. */
      readonly kind: typeof HostWorkKind.Copy
      readonly runs: number
      readonly from: MovePlace
      readonly to: MovePlace
      readonly volume: MovedVolume
    }
  | {
      readonly kind: typeof HostWorkKind.Hold
      readonly held: number
      readonly permit?: number
      readonly to: MovePlace
      readonly volume?: MovedVolume
    }
  | {
      /** The only work that is asked of the new host while the row names the old one. */
      readonly kind: typeof HostWorkKind.Fetch
      readonly held: number
      readonly permit?: number
      readonly from: MovePlace & { readonly port: number }
      readonly volume?: MovedVolume
      readonly at: string
    }
  | { readonly kind: typeof HostWorkKind.Take }
  | { readonly kind: typeof HostWorkKind.Release }
)

/**
 * What has to be under way while an instance is in a state. Effects are standing orders, not steps: the
 * workflow compares them with what it has under way. So nothing is lost if it forgets, and nothing is done
 * twice.
 */
export interface Effects {
  readonly hostWork?: HostWork
  /**
   * Work that goes on beside all other: a volume is copied while its instance runs, or the old host is told
   * that it need not offer it any more.
   */
  readonly copyWork?: MoveWork
  /** Present if another host has to be found. No work is asked of a host meanwhile. */
  readonly place?: true
  /** Present if the row is to name a new host. No work is asked of a host meanwhile. */
  readonly moveRow?: Move
  /** When to send the event `tick`. */
  readonly wakeAtMs?: number
  /**
   * Whether readers no longer find the row, because the instance deletes itself and its host is not clean
   * yet.
   */
  readonly hideRow: boolean
  /** Whether the row is to be deleted. It is deleted last, once the host is clean. */
  readonly deleteRow: boolean
}

export function effectsOf(life: Lifecycle): Effects {
  const phase = phaseOf(life)
  const { hostWork, wakeAtMs }: Pick<Effects, 'hostWork' | 'wakeAtMs'> = orders[phase](life)
  const inRow = phase === Phase.Deleted || life.move?.step !== MoveStep.Row ? undefined : life.move
  const isPlaced = life.placing !== true
  const work = moveWorkOf(life) ?? hostWork
  const copyWork = copyWorkOf(life)
  return {
    ...(isPlaced && inRow === undefined && work !== undefined && { hostWork: work }),
    ...(copyWork !== undefined && { copyWork }),
    wakeAtMs,
    ...(!isPlaced && life.deletion === undefined && inRow === undefined && { place: true }),
    ...(inRow !== undefined && { moveRow: inRow }),
    hideRow: phase === Phase.Deleting && goesByItself(life),
    deleteRow: phase === Phase.Deleted,
  }
}

/** The work of a move, which takes the place of all other work at an instance that is held. */
function moveWorkOf(life: Lifecycle): MoveWork | undefined {
  const { move, state, deletion } = life
  if (move === undefined || deletion !== undefined || !(isDown(state) || isHeldBack(life))) return undefined
  const { atMs, boot: held = 0, permit, from, to, port = 0, volume } = move
  const slept = { held, ...(permit !== undefined && { permit }), ...(volume !== undefined && { volume }) }
  switch (move.step) {
    case MoveStep.Hold:
      return { kind: HostWorkKind.Hold, atMs, ...slept, to }
    case MoveStep.Fetch:
      return { kind: HostWorkKind.Fetch, atMs, ...slept, from: { ...from, port }, at: to.nodeId }
    case MoveStep.Take:
      return { kind: HostWorkKind.Take, atMs }
    case MoveStep.Release:
      return { kind: HostWorkKind.Release, atMs }
    case MoveStep.Wanted:
    case MoveStep.Copy:
    case MoveStep.Row:
      return undefined
    default:
      return move.step satisfies never
  }
}

function copyWorkOf({ move, offer }: Lifecycle): MoveWork | undefined {
  if (offer === undefined) return undefined
  const { atMs, boot: runs } = offer
  if (move?.atMs !== atMs) return { kind: HostWorkKind.Release, atMs }
  const { step, from, to, volume } = move
  if (step !== MoveStep.Copy || volume === undefined) return undefined
  return { kind: HostWorkKind.Copy, atMs, runs, from, to, volume }
}

const orders = {
  [Phase.Stopped]: ({ givenUp: boot, restartAtMs }) => ({
    ...(boot === undefined
      ? {}
      : { hostWork: { kind: HostWorkKind.Stop, boot, forced: true, graceMs: 0 } as const }),
    wakeAtMs: restartAtMs,
  }),
  [Phase.Starting]: startOf,
  [Phase.Running]: (life) => ({
    hostWork:
      life.reopen === true
        ? { kind: HostWorkKind.Start, boot: life.boot }
        : (standByOf(life) ?? changeOf(life)),
    wakeAtMs: earliest(problemFreeAtMs(life), standbyDueAtMs(life)),
  }),
  [Phase.Draining]: (life) => ({
    hostWork: { kind: HostWorkKind.Drain, boot: life.boot },
    wakeAtMs: life.drainUntilMs,
  }),
  [Phase.Stopping]: (life) => ({ hostWork: stopOf(life) }),
  [Phase.Standby]: (life) =>
    life.retryAtMs === undefined
      ? { hostWork: standByOf(life) ?? changeOf(life) }
      : { wakeAtMs: life.retryAtMs },
  [Phase.Deleting]: () => ({ hostWork: { kind: HostWorkKind.Remove } }),
  [Phase.Deleted]: () => ({}),
} satisfies Record<Phase, (life: Lifecycle) => Pick<Effects, 'hostWork' | 'wakeAtMs'>>

/**
 * The host work of a start. The host continues by itself a wake that it began, and is asked for it only if
 * the wake takes too long.
 */
function startOf(life: Lifecycle): Pick<Effects, 'hostWork' | 'wakeAtMs'> {
  if (life.retryAtMs !== undefined) return { wakeAtMs: life.retryAtMs }
  if (life.wakingSinceMs !== undefined) return { wakeAtMs: life.wakingSinceMs + wakePatienceMs }
  return { hostWork: { kind: HostWorkKind.Start, boot: life.boot } }
}

function standByOf({ order, scaleToZero }: Lifecycle): HostWork | undefined {
  if (order === undefined) return undefined
  // What a user sends to standby keeps its memory, whatever scale-to-zero says.
  const stateful = order.drainMs !== undefined || (scaleToZero?.stateful ?? false)
  return { kind: HostWorkKind.StandBy, ...order, stateful, graceMs: shutdownGraceMs }
}

function changeOf(life: Lifecycle): HostWork | undefined {
  const change = changeToTell(life)
  return change === undefined ? undefined : { kind: HostWorkKind.Change, ...change }
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function stopOf(life: Lifecycle): HostWork {
  const forced = life.asked?.forced ?? false
  return { kind: HostWorkKind.Stop, boot: life.boot, forced, graceMs: forced ? 0 : shutdownGraceMs }
}
