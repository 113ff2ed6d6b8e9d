import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { ExecRequest, ExecSession } from '../exec/exec-session.ts'
import type { PreparedImage } from '../images/images.ts'
import type { Attachment } from '../network/network.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { HeldVolume } from '../volumes/volumes.ts'
import type { MirrorTarget, VolumeMirror } from './volume-mirror.ts'

/**
 * The port through which an agent runs virtual machines: at most one VM per instance, named by instance and
 * boot. VMs outlive the process that holds this object; `recover` finds them again.
 *
 * Exits are level-triggered. `status` has the exit of an ended VM until `forget` is called, however long ago
 * the VM ended; `onExit` only wakes the caller. In the same way the start report in `status` has the time of
 * the first listening socket, and `onListening` only wakes the caller.
 */
export interface Vmm {
  readonly accelerator: 'kvm' | 'tcg' | 'fake'
  /** How many processors its VMs share. */
  readonly processors: number
  /**
   * Starts the VM and resolves when its application has been entered (for a kernel of the user's own: when
   * its CPUs run). If the VM ends before that, it resolves too, and the exit report has `applicationStarted:
   * false`.
   *
   * With `restore` the VM continues from the snapshot in its directory, if that snapshot fits. The guest's
   * clock is then set, and its random pool is seeded again. If no snapshot fits, the VM begins afresh. The
   * report's kind says which of the two happened. Either way the snapshot is used up.
   *
   * Throws `VmmError` if there is no VM afterwards. Its failure is `HostFull` in two cases. Either the
   * memory of the host has no room for another VM; then the snapshot is not used up. Or the disk of the host
   * is full, so that the guest could not mount its volume. A further call for a VM that runs resolves with
   * the same report.
   */
  start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport>
  /** Sends the shutdown signal and returns; the guest kills the application after `graceMs`. Idempotent. */
  shutdown(vm: VmName, options: { readonly graceMs: number }): Promise<void>
  /**
   * Asks the guest whether the VM may go to standby. `disabled` means that the guest speaks against standby
   * or does not answer. After `ready`, every process in the guest that wants to speak against standby has to
   * wait, until `stayAwake` or the VM's end; its words are not lost. A kernel of the user's own is always
   * ready. If this process ends after the answer, the guest is awake again, as after `stayAwake`.
   */
  askToSleep(vm: VmName): Promise<'ready' | 'disabled'>
  stayAwake(vm: VmName): Promise<void>
  /**
   * Writes the VM into its snapshot, durably, and ends its process. Only the snapshot is kept of the VM, and
   * there is no exit. Throws `VmmError` if that was not possible; the VM then runs on, awake, unless it has
   * ended by itself. A further call for a VM that has become its snapshot resolves with the same UUID. If
   * this process ends during the call, the VM either runs on or becomes its snapshot. In the second case
   * `recover` does not find the VM.
   */
  suspend(vm: VmName): Promise<{ readonly snapshotUuid: string }>
  /**
   * Begins to copy the volume of a VM that runs, and follows what the VM writes to it. The VM does not wait
   * for the target, except when it is suspended: then for what is left, and for a while at most. There is one
   * mirror of a VM at a time. It ends with the VM, and with this object. Throws `VmmError` if there can be
   * none.
   */
  mirror(vm: VmName, target: MirrorTarget): Promise<VolumeMirror>
  readonly snapshots: SnapshotFit
  /** Deletes the snapshot in an instance's directory, if there is one. */
  dropSnapshot(directory: string): Promise<void>
  /**
   * Called when a guest begins or ceases to speak against standby. `status` says whether it does at present.
   */
  onDisabled(listener: (vm: VmName, disabled: boolean) => void): void
  /** Ends the VM at once. Resolves when its process is gone. `cause` goes into the exit report. */
  kill(vm: VmName, cause: 'forced' | 'host-halted'): Promise<void>
  /** Finds, on disk, the VMs that run or have ended and are not forgotten. A new agent starts from them. */
  recover(): Promise<readonly VmStatus[]>
  status(vm: VmName): Promise<VmStatus | undefined>
  /** Called with every VM that ended, after its report is durable on disk. */
  onExit(listener: (vm: VmName, exit: ExitReport) => void): void
  /**
   * Called when a VM's application listens on a socket for the first time. The start report has that time
   * now.
   */
  onListening(listener: (vm: VmName) => void): void
  /**
   * Called when a VM begins to wait for room on the host's disk, and when it goes on. `status` says whether
   * it waits at present.
   */
  onStalled(listener: (vm: VmName, stalled: boolean) => void): void
  /**
   * The memory and the CPU time of the VM's process. After the end of the process, the memory is 0 and the
   * CPU time is the last known one. Undefined if the process never started.
   */
  usage(vm: VmName): Promise<VmUsage | undefined>
  /**
   * The CPU time of `usage` alone, read synchronously and so cheaply that it may be asked of all VMs every
   * second.
   */
  cpuTimeMs(vm: VmName): number | undefined
  /**
   * Throws like `start` where the host's memory has no room for the VM now. A start that follows may be
   * refused all the same.
   */
  checkMemory(vm: Pick<VmSpec, 'instanceUuid' | 'boot' | 'memoryMb'>): void
  /**
   * How much of the host's memory all VMs may take, and how much is counted as taken. Undefined if memory is
   * not counted.
   */
  memory(): MemoryReading | undefined
  readonly terms: HostTermOfVms
  /** Deletes what is kept of an ended VM, so that a next boot can start. It does not touch the console. */
  forget(vm: VmName): Promise<void>
  /**
   * Runs a program in the guest of a VM that runs. Throws `ExecRefused` if that is not possible, as with a
   * kernel of the user's own. The session ends with the VM, with its snapshot, and with this object. While
   * there is a session, the caller has to keep the VM from being suspended.
   */
  exec(vm: VmName, request: ExecRequest): Promise<ExecSession>
  /** Closes this object. Its VMs run on. */
  close(): Promise<void>
}

/** Whether a VM can go on from a snapshot that was made on another machine. */
export interface SnapshotFit {
  /** What of this machine its snapshots depend on. */
  readonly machine: SnapshotMachine
  /**
   * Says, for people, why a VM like this could not go on here from a snapshot that was made on `machine`.
   * Undefined if it could.
   */
  misfitOf(
    snapshot: { readonly snapshotKey: string; readonly machine: SnapshotMachine },
    vm: SnapshotShape,
  ): string | undefined
}

/**
 * Words and values, such as the processor and its model. Machines on which all are the same fit each other.
 */
export type SnapshotMachine = Readonly<Record<string, string>>

/** What a snapshot depends on beside its machine. */
export interface SnapshotShape extends Pick<VmSpec, 'memoryMb' | 'vcpus' | 'image'> {
  readonly nic: { readonly ip: string; readonly mac: string }
  readonly volume?: Pick<VmVolume, 'uuid' | 'at' | 'readonly'>
}

/** How the VMs of a host keep its term. */
export interface HostTermOfVms {
  /**
   * Whether every VM that runs ends with the host's term by itself. VMs that began before terms existed do
   * not. Cheap enough to be asked with every heartbeat.
   */
  isKept(): boolean
  /**
   * Called after the file of the term got an earlier deadline, or its first one. Resolves with true once
   * every VM that runs or is being started has taken it over; with false if one does not. A deadline that
   * is only put off is noticed without this.
   */
  heed(): Promise<boolean>
}

export interface VmName {
  readonly instanceUuid: string
  readonly boot: number
}

export interface VmSpec extends VmName {
  /** The directory of the instance; the VMM keeps its own files of this boot in `<directory>/vm`. */
  readonly directory: string
  /** The directory of the console's segments (`src/host/console`). */
  readonly consoleDirectory: string
  /**
   * The user of the instance. All VMs of one user together get the same share of the processors as all VMs
   * of another user.
   */
  readonly userUuid: string
  readonly memoryMb: number
  readonly vcpus: number
  readonly image: PreparedImage
  readonly process: GuestProcess
  readonly attachment: Attachment
  readonly volume?: VmVolume
  readonly restore: boolean
}

/**
 * How long after its grace a guest with a writable volume may take to write back to the volume what it holds
 * in memory. The keeper has the same number (`guest/keeper/guest.c`). A kill before that loses what was
 * written and not synced.
 */
export const volumeWriteBackMs = 15_000

/**
 * A block device whose file system the guest mounts before the application starts. A kernel of the user's
 * own finds a disk with the serial `volume` and mounts it itself. A new, empty volume gets the owner and the
 * mode of the directory that the image has at this path. If the image has none, the application's user
 * becomes the owner. Before the guest ends or sleeps, it writes everything back, so that the file system is
 * clean. A kill is like a power loss. If the host's disk is full, no write fails: the VM stalls, see
 * `onStalled`.
 */
export interface VmVolume extends HeldVolume {
  /**
   * The mount path, as `parseMountPath` returns it. The directory is made if it is missing, and must be
   * empty.
   */
  readonly at: string
  /**
   * Checks the volume's file system. Present if that was left out, because the VM is to continue from a
   * snapshot that was made with the volume. If the VM begins afresh after all, the start calls this first,
   * while nothing of the instance runs. If the check throws, the start fails with that error.
   */
  readonly checkAfresh?: (signal: AbortSignal) => Promise<void>
}

/**
 * What the guest runs. Any byte but NUL may stand in the strings; they never pass through a command line.
 */
export interface GuestProcess {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly workingDirectory: string
  readonly user: string
  readonly hostname: string
}

export interface VmStatus extends VmName {
  readonly started?: StartReport
  /** The guest speaks against standby at present. */
  readonly disabled?: boolean
  /** The VM waits for room on the host's disk. It goes on by itself once there is room. */
  readonly stalled?: boolean
  /** Present once the VM has ended. */
  readonly exit?: ExitReport
}

/** The memory that virtual machines take, as it is counted when starts are admitted. */
export interface MemoryReading {
  readonly host: HostMemory
  /** The memory that all virtual machines together may be promised. */
  readonly limitMb: number
  /** The memory that is counted for VMs and for starts under way. */
  readonly instancesMb: number
  readonly templatesMb: number
  /** The number of starts that did not fit, since this process began. */
  readonly refusals: number
}

export interface VmUsage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
}

/**
 * Thrown if a VM could not be started; then nothing of the VM runs. Also thrown if a VM could not be
 * suspended; then it runs on, unless it has ended by itself. `failure` is a `HostFailure`. It is
 * `VolumeUnusable` if the guest could not mount the volume.
 */
export class VmmError extends Error {
  override readonly name = 'VmmError'
  readonly failure: 'BootFailed' | 'HostFull' | 'ImageUnusable' | 'VolumeUnusable'
  constructor(failure: VmmError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
