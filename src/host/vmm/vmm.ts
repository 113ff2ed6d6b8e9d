import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { PreparedImage } from '../images/images.ts'
import type { Attachment } from '../network/network.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { HeldVolume } from '../volumes/volumes.ts'

/**
 * The port through which an agent runs virtual machines: at most one VM per instance, named by instance and
 * boot. VMs outlive the process that holds this object; `recover` finds them again.
 *
 * Exits are level-triggered: `status` has the exit of an ended VM, however long ago, until `forget` is
 * called; `onExit` only wakes the caller. The time of the first listening socket works in the same way, with
 * `onListening`.
 */
export interface Vmm {
  readonly accelerator: 'kvm' | 'tcg' | 'fake'
  /**
   * Starts the VM and resolves when its application has been entered (for a kernel of the user's own: when
   * its CPUs run). If the VM ends before that, it resolves too, and the exit report has `applicationStarted:
   * false`.
   *
   * With `restore` the VM continues from the snapshot in its directory if one fits, with the clock set and
   * the random pool seeded again; else it begins afresh. The report's kind says which. Either way the
   * snapshot is used up.
   *
   * Throws `VmmError` if there is no VM afterwards. With `HostFull` the host's memory has no room for the VM
   * beside those that run, and the snapshot is not used up. A further call for a VM that runs resolves with
   * the same report.
   */
  start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport>
  /** Sends the shutdown signal and returns; the guest kills the application after `graceMs`. Idempotent. */
  shutdown(vm: VmName, options: { readonly graceMs: number }): Promise<void>
  /**
   * Asks the guest whether it may be put to standby. After `ready` the guest holds back every process that
   * wants to speak against standby, until `stayAwake` or the VM's end; what it holds back is not lost. A
   * kernel of the user's own is always ready. A guest that does not answer counts as speaking against it. If
   * this process ends meanwhile, the guest is awake again.
   */
  askToSleep(vm: VmName): Promise<'ready' | 'disabled'>
  stayAwake(vm: VmName): Promise<void>
  /**
   * Writes the VM into its snapshot, durably, and ends its process. Only the snapshot is kept of the VM, and
   * there is no exit. Throws `VmmError` if that was not possible: the VM then runs on, awake. A further call
   * for a VM that has become its snapshot resolves with the same. If this process ends meanwhile, the VM
   * either runs on, or has become its snapshot and is missing in what `recover` finds.
   */
  suspend(vm: VmName): Promise<{ readonly snapshotUuid: string }>
  /** Deletes the snapshot in an instance's directory, if there is one. */
  dropSnapshot(directory: string): Promise<void>
  /** Called when the guest begins or ceases to speak against standby; `status` has the present word. */
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
   * Called when a VM begins to wait for room on the host's disk, or goes on; `status` has the present word.
   */
  onStalled(listener: (vm: VmName, stalled: boolean) => void): void
  /**
   * Memory and CPU time of the VM's process. After its end, the last known CPU time. Undefined if it never
   * started.
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
  /** The memory that VMs are counted with and may have. Undefined if memory is not counted. */
  memory(): MemoryReading | undefined
  /** Deletes what is kept of an ended VM, so that a next boot can start. It does not touch the console. */
  forget(vm: VmName): Promise<void>
  /** Closes this object. Its VMs run on. */
  close(): Promise<void>
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
  /** The user. All VMs of a user together get the same share of the processors as those of another user. */
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
 * How long, beyond its grace, a guest with a writable volume may take to write back what it has in memory.
 * The guest's keeper has the same number. An earlier kill loses what was written and not synced.
 */
export const volumeWriteBackMs = 15_000

/**
 * A block device whose file system the guest mounts before the application starts. A kernel of the user's
 * own finds a disk with the serial `volume` and mounts it itself. A volume that is new and empty takes owner
 * and mode of the image's directory or, if there is none, the application's user as its owner. At the
 * guest's end, and before it sleeps, everything is written back and the file system is clean. A kill is like
 * a power loss. If the host's disk is full, the VM stalls instead of having failed writes, see `onStalled`.
 */
export interface VmVolume extends HeldVolume {
  /**
   * The mount path, as `parseMountPath` returns it. The directory is made if it is missing, and must be
   * empty.
   */
  readonly at: string
  /**
   * Checks the volume's file system. Present if it is not checked yet, because a snapshot is to continue
   * with the volume. If the VM begins afresh after all, this is called first, while nothing of the instance
   * runs; the start throws what it throws.
   */
  readonly checkAfresh?: (signal: AbortSignal) => Promise<void>
}

/** What the guest runs. Any byte but NUL may stand in the strings; they never pass through a command line. */
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
  /** The memory that VMs and starts under way are counted with. */
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
 * Thrown where a VM could not be started, and nothing of it runs; or where it could not be suspended, and it
 * runs on. `failure` is a `HostFailure`: `VolumeUnusable` where the guest could not mount the volume.
 */
export class VmmError extends Error {
  override readonly name = 'VmmError'
  readonly failure: 'BootFailed' | 'HostFull' | 'ImageUnusable' | 'VolumeUnusable'
  constructor(failure: VmmError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
