import type { ExitReport } from './exit-report.ts'
import type { HostFailure } from './host-work.ts'
import type { RestartPolicy } from './restart-policy.ts'
import type { StartReport } from './start-report.ts'
import type { AskedStop, StopOutcome } from './stop-reason.ts'
import { InstanceState } from './instance-state.ts'

/** Who wanted the start that is under way or that brought the instance up. */
export const StartOrigin = {
  User: 'user',
  /** The restart policy. */
  Policy: 'policy',
  /** The host was halted or rebooted under an instance that should run. */
  Platform: 'platform',
} as const
export type StartOrigin = (typeof StartOrigin)[keyof typeof StartOrigin]

/** How far a deletion has come: `wanted` until the host is clean, then only the row is left. */
export const Deletion = { Wanted: 'wanted', Done: 'done' } as const
export type Deletion = (typeof Deletion)[keyof typeof Deletion]

/** Plain JSON: it travels through continue-as-new. Times are absolute milliseconds since the epoch. */
export interface Lifecycle {
  readonly restartPolicy: RestartPolicy
  readonly deleteOnStop: boolean

  readonly state: InstanceState
  readonly deletion?: Deletion
  /** Grows by one with every decision that changes what readers see. */
  readonly revision: number

  /** The last boot that was asked of the host; never lowered, never used twice. */
  readonly boot: number
  readonly startOrigin: StartOrigin
  /** Boots that the present start has asked for. */
  readonly startTries: number
  /** While starting: the last try failed, and the next is due then. */
  readonly retryAtMs?: number
  /** A start that came while the instance was stopping: it starts again afterwards. */
  readonly startAgain?: boolean

  /** The stop under way. */
  readonly asked?: AskedStop
  readonly drainUntilMs?: number

  readonly startCount: number
  readonly restartCount: number
  /** Restarts in the present sequence. */
  readonly restartAttempt: number
  readonly restartAtMs?: number

  /** Of the last boot that came up; its `boot` says whether that is the present one. */
  readonly report?: StartReport
  readonly stoppedAtMs?: number
  /** Of the runs that ended. */
  readonly uptimeMs: number
  readonly outcome?: StopOutcome
  readonly failure?: string
}

export const EventKind = {
  Start: 'start',
  Stop: 'stop',
  Delete: 'delete',
  /** The host brought a boot up. */
  Started: 'started',
  /** The host could not bring a boot up. */
  StartFailed: 'start-failed',
  /** A boot ended; reported at least once. */
  Exited: 'exited',
  /** The host finished a stop and never knew that boot. */
  Absent: 'absent',
  /** The host keeps nothing of the instance any more. */
  Removed: 'removed',
  /** Nothing is connected to a draining instance any more. */
  ConnectionsClosed: 'connections-closed',
  /** Time passed; whatever is due happens. It may come at any time, and more often than needed. */
  Tick: 'tick',
} as const
export type EventKind = (typeof EventKind)[keyof typeof EventKind]

export type LifecycleEvent =
  | { readonly kind: typeof EventKind.Start }
  | { readonly kind: typeof EventKind.Stop; readonly force: boolean; readonly drainTimeoutMs: number }
  | { readonly kind: typeof EventKind.Delete }
  | { readonly kind: typeof EventKind.Started; readonly report: StartReport }
  | {
      readonly kind: typeof EventKind.StartFailed
      readonly boot: number
      /** Absent where the host failed in a way it has no word for. */
      readonly failure?: HostFailure
      readonly message: string
    }
  | { readonly kind: typeof EventKind.Exited; readonly exit: ExitReport }
  | { readonly kind: typeof EventKind.Absent; readonly boot: number }
  | { readonly kind: typeof EventKind.Removed }
  | { readonly kind: typeof EventKind.ConnectionsClosed }
  | { readonly kind: typeof EventKind.Tick }

export type EventOf<K extends EventKind> = Extract<LifecycleEvent, { readonly kind: K }>

/** Where an instance stands for the table: its state, or how far its deletion is. */
export const Phase = { ...InstanceState, Deleting: 'deleting', Deleted: 'deleted' } as const
export type Phase = (typeof Phase)[keyof typeof Phase]

export function phaseOf(life: Lifecycle): Phase {
  if (life.deletion === Deletion.Done) return Phase.Deleted
  return life.deletion === Deletion.Wanted ? Phase.Deleting : life.state
}

/** What an instance is when its workflow begins. */
export interface LifecycleRules {
  readonly autostart: boolean
  readonly deleteOnStop: boolean
  readonly restartPolicy: RestartPolicy
}

/** Before the first decision: revision 0, which is also what the row says when it is inserted. */
export function unstarted(rules: LifecycleRules): Lifecycle {
  return {
    restartPolicy: rules.restartPolicy,
    deleteOnStop: rules.deleteOnStop,
    state: InstanceState.Stopped,
    revision: 0,
    boot: 0,
    startOrigin: StartOrigin.User,
    startTries: 0,
    startCount: 0,
    restartCount: 0,
    restartAttempt: 0,
    uptimeMs: 0,
  }
}
