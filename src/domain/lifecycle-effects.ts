import { Phase, phaseOf } from './lifecycle-state.ts'
import type { Lifecycle } from './lifecycle-state.ts'
import { problemFreeAtMs } from './lifecycle-moves.ts'

/** Between the shutdown signal and the guest's SIGKILL. */
export const shutdownGraceMs = 10_000

export const HostWorkKind = { Start: 'start', Stop: 'stop', Remove: 'remove' } as const
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

/**
 * What has to be going on while an instance is in a state. They are standing orders, not steps: whoever carries them
 * out compares them with what he has under way, so nothing is lost when he forgets, and nothing is done twice.
 */
export interface Effects {
  readonly hostWork?: HostWork
  /** When to say `tick`. */
  readonly wakeAtMs?: number
  /** It deletes itself: readers are not to find it any more, although its host is not clean yet. */
  readonly hideRow: boolean
  /** The host is clean; the row is the last thing to go. */
  readonly deleteRow: boolean
}

export function effectsOf(life: Lifecycle): Effects {
  const phase = phaseOf(life)
  return {
    ...orders[phase](life),
    hideRow: phase === Phase.Deleting && life.deleteOnStop,
    deleteRow: phase === Phase.Deleted,
  }
}

const orders = {
  [Phase.Stopped]: (life) => ({ wakeAtMs: life.restartAtMs }),
  [Phase.Starting]: (life) =>
    life.retryAtMs === undefined
      ? { hostWork: { kind: HostWorkKind.Start, boot: life.boot } }
      : { wakeAtMs: life.retryAtMs },
  [Phase.Running]: (life) => ({ wakeAtMs: problemFreeAtMs(life) }),
  [Phase.Draining]: (life) => ({ wakeAtMs: life.drainUntilMs }),
  [Phase.Stopping]: (life) => ({ hostWork: stopOf(life) }),
  [Phase.Standby]: () => ({}),
  [Phase.Deleting]: () => ({ hostWork: { kind: HostWorkKind.Remove } }),
  [Phase.Deleted]: () => ({}),
} satisfies Record<Phase, (life: Lifecycle) => Pick<Effects, 'hostWork' | 'wakeAtMs'>>

function stopOf(life: Lifecycle): HostWork {
  const forced = life.asked?.forced ?? false
  return { kind: HostWorkKind.Stop, boot: life.boot, forced, graceMs: forced ? 0 : shutdownGraceMs }
}
