import type { HostLoss } from '../host/term.ts'
import type { Asker } from '../event/asker.ts'
import type { ConfigurationChange, ConfigurationVersion } from './configuration.ts'
import type { ExitReport } from './exit-report.ts'
import type { HostFailure, MovedVolume, MovePlace, StandByRefusal } from './host-work.ts'
import type { RestartPolicy } from './restart-policy.ts'
import type { StartReport } from './start-report.ts'
import type { AskedStop, StopOutcome } from './stop-reason.ts'
import { InstanceState } from './state.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/** Who wanted the start that is under way, or the start that brought the instance up. */
export const StartOrigin = {
  User: 'user',
  /** The restart policy. */
  Policy: 'policy',
  /** The host was halted or rebooted under an instance that should run. */
  Platform: 'platform',
  /** Traffic came for an instance in standby, and its host woke it. */
  Traffic: 'traffic',
} as const
export type StartOrigin = (typeof StartOrigin)[keyof typeof StartOrigin]

/** How far a deletion has come: `wanted` until the host is clean, then only the row is left. */
export const Deletion = { Wanted: 'wanted', Done: 'done' } as const
export type Deletion = (typeof Deletion)[keyof typeof Deletion]

/** How far a move to another host is. `lifecycle-move.ts` has the diagram. */
export const MoveStep = {
  Wanted: 'wanted',
  Copy: 'copy',
  Hold: 'hold',
  Fetch: 'fetch',
  Row: 'row',
  Take: 'take',
  Release: 'release',
} as const
export type MoveStep = (typeof MoveStep)[keyof typeof MoveStep]

/**
 * Whether the instance is held, or was, so that it starts when the move is over. Before that, it runs, starts
 * and stops as always, and the move may be changed or taken back.
 */
export function isWithHosts(step: MoveStep): boolean {
  return step !== MoveStep.Wanted && step !== MoveStep.Copy
}

/** A move to another host. */
export interface Move {
  readonly from: MovePlace
  readonly to: MovePlace
  readonly step: MoveStep
  /** When it was asked for, by which late answers are told from right ones. */
  readonly atMs: number
  /** When the present step began. */
  readonly sinceMs: number
  readonly asker?: Asker
  /** The boot that slept or ended before it is held. Absent: none is held yet, or it never ran. */
  readonly boot?: number
  /** The permit with which it sleeps. Absent: it is stopped. */
  readonly permit?: number
  /** Where the old host gives out what it holds. */
  readonly port?: number
  /** The volume that moves with it. */
  readonly volume?: MovedVolume
  /**
   * Whether its volume is still to be copied while it runs. Absent: that was tried, or there is none, or the
   * move began before that existed.
   */
  readonly copies?: true
  /** Why its volume could not be copied while it ran, for people. */
  readonly notCopied?: string
  /** Why its memory does not go with it. */
  readonly withoutMemory?: string
}

/** Plain JSON: it travels through continue-as-new. Times are absolute milliseconds since the epoch. */
export interface Lifecycle {
  readonly restartPolicy: RestartPolicy
  readonly deleteOnStop: boolean

  readonly state: InstanceState
  readonly deletion?: Deletion
  /** Present if the instance is retired: it drains, stops and is then deleted. No start takes that back. */
  readonly retired?: true
  /** Grows by one with every decision that changes what readers see. */
  readonly revision: number

  /** The last boot that was asked of the host; never lowered, never used twice. */
  readonly boot: number
  readonly startOrigin: StartOrigin
  /** Who asked last for a start, a stop or standby by hand. Absent if that is not known, or nobody did. */
  readonly asker?: Asker
  /** How many boots the present start has asked for. */
  readonly startTries: number
  /** When the next try of the start is due. It is set while starting, after a try has failed. */
  readonly retryAtMs?: number
  /**
   * Whether a start came while the instance was stopping or on its way to the standby that a user asked for.
   * The instance then starts again after that.
   */
  readonly startAgain?: boolean

  /** The stop under way. */
  readonly asked?: AskedStop
  readonly drainUntilMs?: number
  /**
   * Present if a drain was taken back, so the host has to let traffic in again. The host may already have
   * finished the drain.
   */
  readonly reopen?: true

  readonly startCount: number
  readonly restartCount: number
  /** Restarts in the present sequence. */
  readonly restartAttempt: number
  readonly restartAtMs?: number
  /**
   * The boot with which the last start gave up; set while the instance is stopped. An attempt of that boot
   * that was cut off may still come up, so the host has to stop it.
   */
  readonly givenUp?: number
  /**
   * Set while the instance waits for the next try of its start, if the boot of the last try has ended: a
   * report that it came up is then old news.
   */
  readonly endedTry?: number

  /** The report of the last boot that came up; its `boot` says whether that is the present one. */
  readonly report?: StartReport
  readonly stoppedAtMs?: number
  /** The uptime of the runs that ended. */
  readonly uptimeMs: number
  readonly outcome?: StopOutcome
  /** Why the last start or wake failed, for people. */
  readonly failure?: string
  /** The kind of that failure, if the host has a word for it. */
  readonly failureKind?: HostFailure

  /**
   * How far changes of the configuration have come. `hostVersion` is the newest one that the host knows.
   * Absent before the first change.
   */
  readonly config?: ConfigurationVersion & { readonly hostVersion: number }

  /** When the instance goes to standby. If it is absent, the instance never does. */
  readonly scaleToZero?: ScaleToZero
  /** The idle period that the host last reported, of this boot or of the permit's. */
  readonly idle?: { readonly boot: number; readonly epoch: number; readonly sinceMs: number }
  /** The boot that speaks against standby at present. */
  readonly disabledBoot?: number
  /** The earliest time at which the host may be ordered to stand by. */
  readonly awakeUntilMs?: number
  /**
   * The order to stand by that the host has to carry out. It is set again if its answer is needed once more.
   */
  readonly order?: {
    readonly boot: number
    readonly epoch: number
    readonly permit: number
    /** Present if a user asked for it: how long requests in flight may take to end. */
    readonly drainMs?: number
    /** Present if the instance moves: the new host, for which the old one holds it once it sleeps. */
    readonly hold?: MovePlace
    /** The volume that moves with it. */
    readonly volume?: MovedVolume
  }
  /**
   * A user asked for standby, and it did not come yet. It is ordered as soon as the instance runs and no
   * other order is out.
   */
  readonly suspend?: { readonly drainMs: number; readonly atMs: number }
  /**
   * The boot that the host may start by itself, or may have started: from the order on, until that boot is
   * known to be over.
   */
  readonly permit?: number
  /**
   * The sleep of the instance. It is set while the instance sleeps, and while its host wakes it with the
   * permit. A wake that fails leads back to it.
   */
  readonly sleep?: Sleep
  /** When the host began the wake that is under way. */
  readonly wakingSinceMs?: number
  /** Where the instance was placed anew, or moved to. Absent: it is on its first host. */
  readonly nodeId?: string
  /** The move to another host that is under way. */
  readonly move?: Move
  /**
   * The move and the boot for which the old host may offer its volume: from the order to copy it until the
   * instance is held, or the host has ended the offer.
   */
  readonly offer?: { readonly atMs: number; readonly boot: number }
  /** Why the last move failed. Absent if it did not, or another one was asked for since. */
  readonly moveFailure?: {
    readonly from: MovePlace
    readonly to: MovePlace
    readonly atMs: number
    readonly why: string
  }
  /** The last loss of a host that was told. */
  readonly lost?: { readonly nodeId: string; readonly loss: number; readonly stays?: true }
  /** Present if another host has to be found first, because that of the instance is lost. */
  readonly placing?: true
  /**
   * A run whose end was not reported before the next state came. If it never is, `untilMs` counts as its end.
   */
  readonly unended?: { readonly boot: number; readonly startedAtMs: number; readonly untilMs: number }
}

export interface Sleep {
  /** The boot that sleeps. It is 0 if the instance never ran. */
  readonly boot: number
  readonly sinceMs?: number
  readonly outcome?: StopOutcome
  readonly snapshotUuid?: string
  /**
   * The version of the configuration with which the host wakes it. Absent: that of the boot that sleeps.
   */
  readonly configVersion?: number
  /** Whether a user asked for this sleep. */
  readonly suspended?: true
}

export const EventKind = {
  Start: 'start',
  Stop: 'stop',
  /** A user wants the instance in standby now. */
  Suspend: 'suspend',
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
  /** Nothing has happened to a running instance for a while; repeated as long as that lasts. */
  Idle: 'idle',
  /** The host is using its permit. */
  Waking: 'waking',
  /** The host could not bring up the permit's boot. It still has the permit. */
  WakeFailed: 'wake-failed',
  /** The instance has begun or ceased to speak against standby. */
  Disabled: 'disabled',
  /** The host carried out an order to stand by. */
  Slept: 'slept',
  /** The host did not carry out an order to stand by, and will not. */
  StandByRefused: 'stand-by-refused',
  /** The host has nothing left of a boot that it had. */
  Lost: 'lost',
  /** The host is lost: it was not heard for so long that its VMs have ended. */
  HostLost: 'host-lost',
  /** Another host was found for the instance. */
  Placed: 'placed',
  /** An administrator wants the instance on another host. */
  Move: 'move',
  /** The new host follows what the boot writes to its volume, or can not copy it. */
  Copied: 'copied',
  /** The old host holds the instance. */
  Held: 'held',
  /** The new host has fetched what the old one holds. */
  Fetched: 'fetched',
  /** The row names the new host. */
  Moved: 'moved',
  /** The new host has taken the instance. */
  Taken: 'taken',
  /** The old host holds the instance no more, and offers nothing of it, because it does not move. */
  Released: 'released',
  /** A step of the move can not be done. */
  MoveFailed: 'move-failed',
  /** The user changed the configuration. */
  Change: 'change',
  /** The host has taken a change of the configuration over. */
  ChangeTaken: 'change-taken',
  /**
   * Time has passed, so whatever is due is done now. The event may come at any time, and more often than
   * needed.
   */
  Tick: 'tick',
} as const
export type EventKind = (typeof EventKind)[keyof typeof EventKind]

export type LifecycleEvent =
  | { readonly kind: typeof EventKind.Start; readonly asker?: Asker }
  | {
      readonly kind: typeof EventKind.Stop
      readonly force: boolean
      readonly drainTimeoutMs: number
      /** The stop retires the instance: it is deleted when it has stopped. */
      readonly thenDelete?: boolean
      readonly asker?: Asker
    }
  | { readonly kind: typeof EventKind.Suspend; readonly drainTimeoutMs: number; readonly asker?: Asker }
  | { readonly kind: typeof EventKind.Delete }
  | { readonly kind: typeof EventKind.Started; readonly report: StartReport }
  | {
      readonly kind: typeof EventKind.StartFailed
      readonly boot: number
      /** The kind of failure. It is absent if the host has no word for it. */
      readonly failure?: HostFailure
      readonly message: string
    }
  | { readonly kind: typeof EventKind.Exited; readonly exit: ExitReport }
  | { readonly kind: typeof EventKind.Absent; readonly boot: number }
  | { readonly kind: typeof EventKind.Removed }
  | { readonly kind: typeof EventKind.ConnectionsClosed }
  | {
      readonly kind: typeof EventKind.Idle
      readonly boot: number
      readonly epoch: number
      readonly sinceMs: number
    }
  | { readonly kind: typeof EventKind.Waking; readonly boot: number; readonly atMs: number }
  | {
      readonly kind: typeof EventKind.WakeFailed
      readonly boot: number
      readonly failure?: HostFailure
      readonly message: string
    }
  | { readonly kind: typeof EventKind.Disabled; readonly boot: number; readonly disabled: boolean }
  | {
      readonly kind: typeof EventKind.Slept
      readonly boot: number
      readonly permit: number
      readonly atMs: number
      readonly exit?: ExitReport
      readonly snapshotUuid?: string
    }
  | {
      readonly kind: typeof EventKind.StandByRefused
      readonly boot: number
      readonly epoch: number
      readonly reason: StandByRefusal
    }
  | { readonly kind: typeof EventKind.Lost; readonly boot: number; readonly atMs: number }
  | ({ readonly kind: typeof EventKind.HostLost } & HostLoss)
  | { readonly kind: typeof EventKind.Placed; readonly nodeId: string }
  | {
      readonly kind: typeof EventKind.Move
      readonly from: MovePlace
      readonly to: MovePlace
      /** The volume that it has. */
      readonly volume?: MovedVolume
      /** Whether that may be copied while the instance runs. */
      readonly copies?: true
      readonly asker?: Asker
    }
  | {
      readonly kind: typeof EventKind.Copied
      readonly atMs: number
      readonly boot: number
      /** Why it was not copied, for people. Absent: it was. */
      readonly why?: string
    }
  | { readonly kind: typeof EventKind.Held; readonly atMs: number; readonly port: number }
  | {
      readonly kind: typeof EventKind.Fetched
      readonly atMs: number
      /** Why the next boot can not go on from the memory. Absent: it can, or none was kept. */
      readonly withoutMemory?: string
    }
  | { readonly kind: typeof EventKind.Moved; readonly nodeId: string }
  | { readonly kind: typeof EventKind.Taken; readonly atMs: number }
  | { readonly kind: typeof EventKind.Released; readonly atMs: number }
  | { readonly kind: typeof EventKind.MoveFailed; readonly atMs: number; readonly why: string }
  | {
      readonly kind: typeof EventKind.Change
      readonly change: ConfigurationChange
      readonly asker?: Asker
    }
  | {
      readonly kind: typeof EventKind.ChangeTaken
      readonly version: number
      /** Whether the host was asked to forget what it had kept for a wake, and whether it did. */
      readonly renew: boolean
      readonly renewed: boolean
    }
  | { readonly kind: typeof EventKind.Tick }

export type EventOf<K extends EventKind> = Extract<LifecycleEvent, { readonly kind: K }>

/** The row of the table for an instance: its state, or how far its deletion is. */
export const Phase = { ...InstanceState, Deleting: 'deleting', Deleted: 'deleted' } as const
export type Phase = (typeof Phase)[keyof typeof Phase]

export function phaseOf(life: Lifecycle): Phase {
  if (life.deletion === Deletion.Done) return Phase.Deleted
  return life.deletion === Deletion.Wanted ? Phase.Deleting : life.state
}
