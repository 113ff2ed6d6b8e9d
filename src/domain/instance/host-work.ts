import type { ExitReport } from './exit-report.ts'
import type { StartReport } from './start-report.ts'

/**
 * The work a host does for an instance's workflow, as the activities of the task queue `node-<id>`.
 *
 * Every activity is idempotent and names what it makes after the instance and the boot number, so a repeat
 * finds what an earlier attempt left: nothing here starts a second VM of an instance, and an older boot
 * number than the one the host knows is answered without touching the VM.
 */
export interface HostActivities {
  /**
   * Brings boot number `boot` up and returns when the application has been entered, or when that boot already
   * ended (`exit`). Heartbeats while it works, so a cancellation or a dead host is noticed.
   * One that runs already is answered for, and a drain of it is over.
   * Fails with an ApplicationFailure whose type is a `HostFailure`.
   */
  startInstance(input: { readonly instanceUuid: string; readonly boot: number }): Promise<StartResult>
  /**
   * Ends boot number `boot`: by the shutdown signal and, after `graceMs`, the guest's SIGKILL; or at once
   * when `forced`. Returns when the VM is gone. The report is the same that the host signals as `hostEvent`.
   * A boot below `boot` that still runs ends too, and what is in standby loses its permit and its snapshot.
   */
  stopInstance(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly forced: boolean
    readonly graceMs: number
  }): Promise<StopResult>
  /**
   * Sends boot number `boot` to standby, provided that nothing has happened since idle period `epoch` began:
   * new traffic waits from then on. With `stateful` memory goes into a snapshot, else the application is shut
   * down as by `stopInstance`. Leaves the host the permit to start boot number `permit`, and no other, when
   * traffic arrives. `boot` 0 with `epoch` 0: the instance never ran, only the permit is left. A repeat, also
   * after that wake, answers as the first time.
   */
  standByInstance(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly epoch: number
    readonly permit: number
    readonly stateful: boolean
    readonly graceMs: number
  }): Promise<StandByResult>
  /**
   * Lets nothing new to boot number `boot` and returns when nothing is connected to it any more. Its
   * cancellation lets traffic in again, unless a stop came meanwhile. Heartbeats.
   */
  drainInstance(input: { readonly instanceUuid: string; readonly boot: number }): Promise<void>
  /** Kills what runs and deletes everything the host keeps of the instance. */
  removeInstance(input: { readonly instanceUuid: string }): Promise<void>
}

/**
 * The work a host does for a volume's workflow, on the same task queue. Idempotent: what is made is named
 * after the volume, a repeat finds it. Fails with an ApplicationFailure whose type is a `HostFailure`.
 */
export interface VolumeActivities {
  /** Makes the volume with an empty file system; one that stands complete is left as it is. Heartbeats. */
  makeVolume(input: { readonly volumeUuid: string; readonly sizeMb: number }): Promise<void>
  /**
   * Checks the whole file system and mends what can be mended. Fails with `VolumeUnusable` where that is not
   * all. Heartbeats.
   */
  repairVolume(input: { readonly volumeUuid: string }): Promise<void>
  /**
   * Erases and deletes it, once no VM has it any more. One that is not there is removed already. Heartbeats.
   */
  removeVolume(input: { readonly volumeUuid: string }): Promise<void>
}

/**
 * Signal `volumeEvent` of `volume/<uuid>`: what a host found out about one of its volumes. Repeats are
 * harmless.
 */
export type VolumeEvent =
  /** The reason is for its owner. */
  | { readonly kind: 'damaged'; readonly reason: string }
  /** A start of its instance came before its workflow, or after that had given up, and made it. */
  | { readonly kind: 'made' }
  /** Not from a host, but in place of one that never comes back: nothing of the volume is left there. */
  | { readonly kind: 'removed' }
export const volumeEventSignalName = 'volumeEvent'

/** `slept`: that boot was ordered to stand by before, and is in standby; whoever asks may not know of it. */
export type StartResult = {
  readonly started: StartReport
  readonly exit?: ExitReport
  readonly slept?: Omit<Extract<StandByResult, { readonly slept: true }>, 'slept'> & {
    readonly permit: number
  }
}
/**
 * `exit` is that of the boot, or of the one before it where the boot was only permitted; absent where the
 * host knows of neither.
 */
export type StopResult = { readonly exit?: ExitReport }

/**
 * Not `slept`: something happened, or speaks against it; the host tells of the next idle period by itself.
 */
export type StandByResult =
  | {
      readonly slept: true
      readonly atMs: number
      /** Absent with a snapshot: then nothing ended. */
      readonly exit?: ExitReport
      readonly snapshotUuid?: string
    }
  | { readonly slept: false; readonly reason: StandByRefusal }

export const StandByRefusal = {
  /** There was traffic after the idle period had been told. */
  Busy: 'busy',
  /** The instance's own count of reasons against standby is above zero. */
  Disabled: 'disabled',
  /** The host has not heard yet what its gateways hold, as just after its start. */
  Unsure: 'unsure',
  /** That boot does not run. */
  NotRunning: 'not-running',
  /** The snapshot could not be taken; the instance runs on. */
  SnapshotFailed: 'snapshot-failed',
  /** The host's disk has no room for the memory; the instance runs on. */
  NoRoom: 'no-room',
} as const
export type StandByRefusal = (typeof StandByRefusal)[keyof typeof StandByRefusal]

/**
 * Signal `hostEvent` of `instance/<uuid>`, sent at least once; repeats are dropped by boot. `exited` tells of
 * every boot that ended, `started` what became known of a start after it was reported: when the first socket
 * listened, or all of it where the host started that boot by its permit.
 */
export type HostEvent =
  | { readonly kind: 'exited'; readonly exit: ExitReport }
  | { readonly kind: 'started'; readonly started: StartReport }
  /**
   * Nothing has happened since; `epoch` is the host's number of that idle period. Repeated while nothing
   * comes of it.
   */
  | { readonly kind: 'idle'; readonly boot: number; readonly epoch: number; readonly sinceMs: number }
  /** Traffic used the permit: the host is bringing this boot up. `started` or `wake-failed` follows. */
  | { readonly kind: 'waking'; readonly boot: number; readonly atMs: number }
  /** The permit is still there: the next traffic tries again. */
  | {
      readonly kind: 'wake-failed'
      readonly boot: number
      readonly failure: HostFailure
      readonly message: string
    }
  /** The instance began or ceased to speak against standby. */
  | { readonly kind: 'disabled'; readonly boot: number; readonly disabled: boolean }
  /**
   * That boot should be here, running or asleep, and the host has nothing of the instance: its directory is
   * lost.
   */
  | { readonly kind: 'lost'; readonly boot: number; readonly atMs: number }
  /** Not from a host, but in place of one that never comes back: nothing of the instance is left there. */
  | { readonly kind: 'removed' }
export const hostEventSignalName = 'hostEvent'

/** Why a host could not start an instance. Types of the ApplicationFailure, not messages. */
export const HostFailure = {
  /** The image is not in the registry any more, or its content is not what its digest says. */
  ImageUnavailable: 'ImageUnavailable',
  /**
   * The image is there but can not run (no command, unknown user, unsupported architecture, over a limit).
   */
  ImageUnusable: 'ImageUnusable',
  /** The images of its user may not take as much of a host. */
  QuotaExceeded: 'QuotaExceeded',
  /** The host has no memory, disk or address left. */
  HostFull: 'HostFull',
  /** The VM did not reach its application within the boot limit, or the VMM did not start. */
  BootFailed: 'BootFailed',
  /** The instance's volume is gone or damaged, or can not be mounted where it is to be. */
  VolumeUnusable: 'VolumeUnusable',
  /** Another VM still has the volume. */
  VolumeInUse: 'VolumeInUse',
  /** The instance is not one of this host any more (deleted). */
  UnknownInstance: 'UnknownInstance',
} as const
export type HostFailure = (typeof HostFailure)[keyof typeof HostFailure]

/** Failures that another attempt can not mend. */
export const finalHostFailures: readonly HostFailure[] = [
  HostFailure.ImageUnusable,
  HostFailure.QuotaExceeded,
  HostFailure.VolumeUnusable,
  HostFailure.UnknownInstance,
]

export function nodeTaskQueue(nodeId: string): string {
  return `node-${nodeId}`
}

export const controlTaskQueue = 'control'
