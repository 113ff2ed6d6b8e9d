import type { ExitReport } from './exit-report.ts'
import type { StartReport } from './start-report.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/**
 * The work a host does for an instance's workflow, as the activities of the task queue `node-<id>`.
 *
 * Every activity is idempotent and names what it makes after the instance and the boot number, so a repeat
 * finds what an earlier attempt left. No activity starts a second VM of an instance. A call with an older
 * boot number than the host knows is answered without touching the VM.
 */
export interface HostActivities {
  /**
   * Brings boot number `boot` up and returns when the application has been entered, or when that boot has
   * already ended (`exit`). Heartbeats while it works, so a cancellation or a dead host is noticed. If the
   * boot already runs, the answer is its report, and a drain of it ends. Fails with an ApplicationFailure
   * whose type is a `HostFailure`.
   */
  startInstance(input: { readonly instanceUuid: string; readonly boot: number }): Promise<StartResult>
  /**
   * Ends boot number `boot`: by the shutdown signal and, after `graceMs`, the guest's SIGKILL; or at once
   * when `forced`. Returns when the VM is gone. The report is the same that the host signals as `hostEvent`.
   * An earlier boot that still runs ends too, and an instance in standby loses its permit and its snapshot.
   */
  stopInstance(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly forced: boolean
    readonly graceMs: number
  }): Promise<StopResult>
  /**
   * Sends boot number `boot` to standby, provided that nothing has happened since idle period `epoch` began;
   * new traffic waits from then on. With `stateful` the memory goes into a snapshot, else the application is
   * shut down as by `stopInstance`. The host keeps the permit to start boot number `permit`, and no other,
   * when traffic arrives. `boot` 0 with `epoch` 0 means that the instance never ran: only the permit is left.
   * A repeat gets the same answer as the first call, even after that wake.
   *
   * With `drainMs` a user asked for it, and `epoch` is only the name of the order: traffic does not speak
   * against it. New traffic waits at once. The VM goes on until what is in flight has ended, or until that
   * time is over; then the rest waits for the wake, too. `stateful` is set.
   */
  standByInstance(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly epoch: number
    readonly permit: number
    readonly stateful: boolean
    readonly graceMs: number
    readonly drainMs?: number
    /** With this, the host holds the instance as soon as it sleeps, as by `holdInstance`. */
    readonly hold?: MovePlace
    /** With `hold`: the volume that moves with the instance. */
    readonly volume?: MovedVolume
  }): Promise<StandByResult>
  /**
   * Admits no new traffic to boot number `boot`, and returns when nothing is connected to it any more. If
   * the call is cancelled, traffic is admitted again, unless a stop came meanwhile. Heartbeats.
   */
  drainInstance(input: { readonly instanceUuid: string; readonly boot: number }): Promise<void>
  /**
   * Takes a change of the configuration over: from now on the instance goes to standby as `scaleToZero`
   * says. With `renew`, an instance that sleeps loses what was kept for its wake, with its memory; its permit
   * stays, and the next boot is launched with the new configuration. `renewed` is false if it does not sleep
   * (any more). A repeat has the same effect.
   */
  changeInstance(input: {
    readonly instanceUuid: string
    readonly version: number
    readonly scaleToZero: ScaleToZero
    readonly renew: boolean
  }): Promise<{ readonly renewed: boolean }>
  /** Kills a VM that runs, and deletes everything that the host keeps of the instance. */
  removeInstance(input: { readonly instanceUuid: string }): Promise<void>
}

/**
 * The work of two hosts by which an instance moves from one to the other, on the same task queues: the old
 * host holds it, the new host fetches it, the row names the new host, and the new host takes it. Nothing runs
 * meanwhile, and only the host that the row names ever starts it again. Before the hold, the volume of an
 * instance that runs is copied while it runs; the hold and the fetch are right without that, too.
 */
export interface MoveActivities {
  /**
   * Offers the volume of an instance whose boot `boot` runs: the new host, and no other machine, may copy
   * it, and follows what the VM writes. A repeat for the same host is harmless, and an offer to another host
   * takes the place of this one. It ends with the VM, by `releaseInstance`, by a hold for another host, or if
   * nobody copies for a while. Not `offered`: that boot does not run here. Fails if the instance has another
   * volume.
   */
  offerVolume(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly to: MovePlace
    readonly volume: MovedVolume
  }): Promise<{ readonly offered: false } | { readonly offered: true; readonly port: number }>
  /**
   * Copies the volume that the old host offers. Returns when the copy has all that was written and follows
   * what is written. Heartbeats. The hold that follows completes the copy: `fetchInstance` then finds the
   * volume here, or fetches it as if there were no copy. If the copy can not be made or is called off,
   * nothing is left of it but what the next fetch deletes. If the instance falls asleep before, a fetch may
   * come here sooner than the call-off of the copy, and calls the copy off itself.
   */
  copyVolume(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly from: MovePlace & { readonly port: number }
    readonly volume: MovedVolume
  }): Promise<void>
  /**
   * Holds an instance that sleeps with `permit`, or that is stopped (`permit` absent), because it moves to
   * the host `to`. From now on traffic waits and the permit is not used. The new host, and no other machine,
   * may fetch what is kept here of the instance. This goes on over a new agent, until `releaseInstance`, a
   * start, a stop or a removal. Not `held`: the instance does not sleep here with that permit (any more).
   *
   * With `volume` that volume is held, too: no other instance gets it, and nobody repairs or removes it.
   * Fails if the instance has another volume, or one that is not named here.
   */
  holdInstance(input: {
    readonly instanceUuid: string
    /** The boot that slept, or the last one that ended. */
    readonly boot: number
    readonly permit?: number
    readonly to: MovePlace
    readonly volume?: MovedVolume
  }): Promise<{ readonly held: false } | { readonly held: true; readonly port: number }>
  /**
   * The instance does not move: it sleeps on here, and traffic that waits wakes it. If it runs, an offer of
   * its volume ends, and it runs on.
   */
  releaseInstance(input: { readonly instanceUuid: string }): Promise<void>
  /**
   * Fetches what the old host, which holds the instance, keeps of it, and holds the instance here. Returns
   * when all is on the disk and its checksums are right. An instance that was fetched in an earlier call is
   * not fetched again. Heartbeats. `memory` says whether the next boot can go on from the memory. With
   * `volume` that volume is fetched, too, or the call fails. Nothing here uses it before the row names this
   * host.
   */
  fetchInstance(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly permit?: number
    readonly from: MovePlace & { readonly port: number }
    readonly volume?: MovedVolume
  }): Promise<FetchResult>
  /**
   * The instance is this host's from now on: it is not held any more, and traffic wakes it. The old host is
   * told to delete what it has, and to overwrite the volume first. A start or a stop of the instance does the
   * same first. A repeat is harmless.
   */
  takeInstance(input: { readonly instanceUuid: string }): Promise<void>
}

/** A host from which or to which an instance moves. `address` is the machine's own one in the mesh. */
export interface MovePlace {
  readonly nodeId: string
  readonly address: string
}

/** A volume that moves with its instance, as its row tells it. */
export interface MovedVolume {
  readonly uuid: string
  readonly sizeMb: number
}

export type FetchResult = (
  | { readonly memory: 'kept' | 'none' }
  /** The memory does not fit this host, so the next boot starts from cold. `why` is for people. */
  | { readonly memory: 'unfit'; readonly why: string }
) & {
  /** The volume that was fetched. A host of an earlier version fetches none. */
  readonly volumeUuid?: string
}

/**
 * The work a host does for a volume's workflow, on the same task queue. Every activity is idempotent: what
 * it makes is named after the volume, so a repeat finds it. Fails with an ApplicationFailure whose type is
 * a `HostFailure`.
 */
export interface VolumeActivities {
  /** Makes the volume with an empty file system. A volume that is complete is left as it is. Heartbeats. */
  makeVolume(input: { readonly volumeUuid: string; readonly sizeMb: number }): Promise<void>
  /**
   * Checks the whole file system and mends what can be mended. Fails with `VolumeUnusable` if damage is left.
   * Heartbeats.
   */
  repairVolume(input: { readonly volumeUuid: string }): Promise<void>
  /**
   * Erases and deletes the volume as soon as no VM has it. A volume that does not exist counts as removed.
   * Heartbeats.
   */
  removeVolume(input: { readonly volumeUuid: string }): Promise<void>
}

/**
 * The signal `volumeEvent` of `volume/<uuid>`: what a host found out about one of its volumes. Repeats are
 * harmless.
 */
export type VolumeEvent =
  /** The host found the volume damaged. The reason is for the owner. */
  | { readonly kind: 'damaged'; readonly reason: string }
  /** A start of its instance made the volume, before its workflow did or after the workflow had given up. */
  | { readonly kind: 'made' }
  /** Sent in place of a host that never comes back: nothing of the volume is left there. */
  | { readonly kind: 'removed' }
export const volumeEventSignalName = 'volumeEvent'

/**
 * `slept` means that the boot was ordered to stand by earlier and is in standby. The caller may not know of
 * that order.
 */
export type StartResult = {
  readonly started: StartReport
  readonly exit?: ExitReport
  readonly slept?: Omit<Extract<StandByResult, { readonly slept: true }>, 'slept'> & {
    readonly permit: number
  }
}
/**
 * `exit` is the end of the boot, or of the boot before it if this one was only permitted. It is absent if the
 * host knows of neither.
 */
export type StopResult = { readonly exit?: ExitReport }

/**
 * The answer to an order to stand by. Without `slept`, the boot stays awake, because something has happened
 * since, or something speaks against standby. The host reports the next idle period by itself.
 */
export type StandByResult =
  | {
      readonly slept: true
      readonly atMs: number
      /** The end of the boot. It is absent with a snapshot, because the boot has not ended then. */
      readonly exit?: ExitReport
      readonly snapshotUuid?: string
    }
  | { readonly slept: false; readonly reason: StandByRefusal }

export const StandByRefusal = {
  /** There was traffic after the idle period had been reported. */
  Busy: 'busy',
  /** The instance's own count of reasons against standby is above zero. */
  Disabled: 'disabled',
  /** The host does not know yet what its gateways hold, as just after its start. */
  Unsure: 'unsure',
  /** The boot does not run. */
  NotRunning: 'not-running',
  /** The snapshot could not be taken; the instance runs on. */
  SnapshotFailed: 'snapshot-failed',
  /** The host's disk has no room for the memory; the instance runs on. */
  NoRoom: 'no-room',
  /** A user asked for standby while programs of users run in the instance. */
  Programs: 'programs',
  /** It is to move, and the host can not let it go. */
  CanNotMove: 'can-not-move',
} as const
export type StandByRefusal = (typeof StandByRefusal)[keyof typeof StandByRefusal]

/**
 * The signal `hostEvent` of `instance/<uuid>`. It is sent at least once; repeats are dropped by boot.
 * `exited` is sent for every boot that ended. `started` adds to the report of a start when the first socket
 * listened. If the host started the boot by its permit, `started` is the whole report.
 */
export type HostEvent =
  | { readonly kind: 'exited'; readonly exit: ExitReport }
  | { readonly kind: 'started'; readonly started: StartReport }
  /**
   * Nothing has happened since `sinceMs`. `epoch` is the host's number of that idle period. The event is
   * repeated until an order to stand by follows.
   */
  | { readonly kind: 'idle'; readonly boot: number; readonly epoch: number; readonly sinceMs: number }
  /** Traffic used the permit: the host is bringing this boot up. `started` or `wake-failed` follows. */
  | { readonly kind: 'waking'; readonly boot: number; readonly atMs: number }
  /** A wake failed. The host still has the permit: the next traffic tries again. */
  | {
      readonly kind: 'wake-failed'
      readonly boot: number
      readonly failure: HostFailure
      readonly message: string
    }
  /** The instance has begun or ceased to speak against standby. */
  | { readonly kind: 'disabled'; readonly boot: number; readonly disabled: boolean }
  /** The boot should run or sleep here, but the host has nothing of the instance: its directory is lost. */
  | { readonly kind: 'lost'; readonly boot: number; readonly atMs: number }
  /** Sent in place of a host that never comes back: nothing of the instance is left there. */
  | { readonly kind: 'removed' }
export const hostEventSignalName = 'hostEvent'

/** Why a host could not start an instance. These are types of the ApplicationFailure, not messages. */
export const HostFailure = {
  /** The image is not in the registry any more, or its content is not what its digest says. */
  ImageUnavailable: 'ImageUnavailable',
  /**
   * The image is there but can not run (no command, unknown user, unsupported architecture, over a limit).
   */
  ImageUnusable: 'ImageUnusable',
  /** With this image, the images of the instance's user would take more of the host than they may. */
  QuotaExceeded: 'QuotaExceeded',
  /** The host has no memory, disk or address left. */
  HostFull: 'HostFull',
  /** The VM did not reach its application within the boot limit, or the VMM did not start. */
  BootFailed: 'BootFailed',
  /** The instance's volume is missing or damaged, or can not be mounted at its path. */
  VolumeUnusable: 'VolumeUnusable',
  /** Another VM still has the volume. */
  VolumeInUse: 'VolumeInUse',
  /** The instance does not belong to this host any more (it is deleted). */
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
