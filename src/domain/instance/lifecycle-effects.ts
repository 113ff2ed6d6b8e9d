import { Phase, phaseOf } from './lifecycle-state.ts'
import type { Lifecycle } from './lifecycle-state.ts'
import { changeToTell } from './lifecycle-change.ts'
import { goesByItself, problemFreeAtMs } from './lifecycle-moves.ts'
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
    }
  | { readonly kind: typeof HostWorkKind.Drain; readonly boot: number }
  | {
      readonly kind: typeof HostWorkKind.Change
      readonly version: number
      readonly scaleToZero: ScaleToZero
      readonly renew: boolean
    }

/**
 * What has to be under way while an instance is in a state. Effects are standing orders, not steps: the
 * workflow compares them with what it has under way. So nothing is lost if it forgets, and nothing is done
 * twice.
 */
export interface Effects {
  readonly hostWork?: HostWork
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
  return {
    ...orders[phase](life),
    hideRow: phase === Phase.Deleting && goesByItself(life),
    deleteRow: phase === Phase.Deleted,
  }
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
