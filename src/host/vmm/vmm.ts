import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { PreparedImage } from '../images/images.ts'
import type { Attachment } from '../network/network.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { HeldVolume } from '../volumes/volumes.ts'

/**
 * The port through which an agent runs virtual machines: one VM per instance at most, named by instance and
 * boot. VMs outlive the process that holds this object; `recover` finds them again.
 *
 * Exits are level-triggered: `status` tells of a VM that ended, however long ago, until `forget` is called,
 * and `onExit` is only the wake-up that says one is there. So is the time of the first listening socket, with
 * `onListening`.
 */
export interface Vmm {
  readonly accelerator: 'kvm' | 'tcg' | 'fake'
  /**
   * Starts the VM and resolves when its application has been entered (for a kernel of the user's own: when
   * its CPUs run). A VM that ends before that resolves too; its report then has `applicationStarted: false`.
   * With `restore` it goes on from the snapshot in its directory where there is one that fits, with the clock
   * set and the random pool seeded anew, and else begins afresh; the report's kind tells. The snapshot is
   * used up by that, either way. Throws `VmmError` when there is no VM afterwards: with `HostFull`, and with
   * nothing used up, where the host's memory has no room for it beside what runs. Calling again for a VM that
   * runs resolves with the same report.
   */
  start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport>
  /**
   * Sends the shutdown signal; the guest kills the application after `graceMs`. Returns once sent.
   * Idempotent.
   */
  shutdown(vm: VmName, options: { readonly graceMs: number }): Promise<void>
  /**
   * Asks the guest whether standby suits it. After `ready` the guest holds back whoever wants to speak
   * against it, until `stayAwake` or the VM's end; what it holds back is not lost. A kernel of the user's own
   * is always ready; a guest that does not answer counts as speaking against it. Should this process end
   * meanwhile, the guest is awake again.
   */
  askToSleep(vm: VmName): Promise<'ready' | 'disabled'>
  stayAwake(vm: VmName): Promise<void>
  /**
   * Writes the VM into its snapshot, durably, and ends its process; nothing is kept of the VM but the
   * snapshot, and there is no exit. Throws `VmmError` where that could not be done: then the VM runs on as
   * before, awake. Calling again for a VM that is its snapshot by now resolves with the same. Should this
   * process end meanwhile, the VM runs on or is a snapshot, and the latter is then missing among what
   * `recover` finds.
   */
  suspend(vm: VmName): Promise<{ readonly snapshotUuid: string }>
  /** Deletes the snapshot in an instance's directory, if there is one. */
  dropSnapshot(directory: string): Promise<void>
  /** Called when the guest began or ceased to speak against standby; `status` has the present word. */
  onDisabled(listener: (vm: VmName, disabled: boolean) => void): void
  /** Ends the VM at once. Resolves when its process is gone. `cause` goes into the exit report. */
  kill(vm: VmName, cause: 'forced' | 'host-halted'): Promise<void>
  /** What runs or has ended and is not forgotten, found on disk: what a new agent starts from. */
  recover(): Promise<readonly VmStatus[]>
  status(vm: VmName): Promise<VmStatus | undefined>
  /** Called with every VM that ended, after its report is durable on disk. */
  onExit(listener: (vm: VmName, exit: ExitReport) => void): void
  /**
   * Called with a VM whose application listens on a socket for the first time: its start report has that time
   * now.
   */
  onListening(listener: (vm: VmName) => void): void
  /**
   * Called when a VM began to wait for room on the host's disk, or goes on; `status` has the present word.
   */
  onStalled(listener: (vm: VmName, stalled: boolean) => void): void
  /**
   * Memory and CPU of the VM's own process; the last known CPU time once it ended; undefined if never
   * started.
   */
  usage(vm: VmName): Promise<VmUsage | undefined>
  /** `usage`'s CPU time alone, at once and so cheap that it may be asked of all VMs every second. */
  cpuTimeMs(vm: VmName): number | undefined
  /**
   * Throws like `start` where the host's memory has no room for the VM now. A start that follows may be
   * refused all the same.
   */
  checkMemory(vm: Pick<VmSpec, 'instanceUuid' | 'boot' | 'memoryMb'>): void
  /** What its VMs are counted with, and what they may have; undefined where nothing is counted. */
  memory(): MemoryReading | undefined
  /** Deletes what is kept of an ended VM, so that a next boot can start. The console is not its business. */
  forget(vm: VmName): Promise<void>
  /** Lets go of every VM without ending it. */
  close(): Promise<void>
}

export interface VmName {
  readonly instanceUuid: string
  readonly boot: number
}

export interface VmSpec extends VmName {
  /** The directory of the instance; the VMM keeps its own files of this boot in `<directory>/vm`. */
  readonly directory: string
  /** Where the console's segments are written (`src/host/console`). */
  readonly consoleDirectory: string
  /** All VMs of a user together have as much of the processors as those of another user. */
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
 * Beyond its grace, a guest with a writable volume has this long to write back what it has in memory; the
 * guest's keeper has the same number. Whoever kills it earlier loses what was written and not synced.
 */
export const volumeWriteBackMs = 15_000

/**
 * A block device whose file system the guest mounts before the application starts; a kernel of the user's own
 * finds a disk with the serial `volume` and mounts it itself. New and empty, it takes owner and mode of the
 * image's directory, or where there is none the application's user. At the guest's end and before it sleeps
 * everything is written back and the file system is clean; a kill is a power loss. A full disk of the host
 * stalls the VM instead of failing its writes, see `onStalled`.
 */
export interface VmVolume extends HeldVolume {
  /** Where, as `parseMountPath` returns it; the directory is made where it is missing, and must be empty. */
  readonly at: string
  /**
   * There where its file system was not checked yet, because a snapshot is to go on with it. Where the VM
   * begins afresh all the same it is called before that, when nothing of the instance runs; what it throws is
   * what the start throws.
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
  /** It waits for room on the host's disk, and goes on by itself once there is. */
  readonly stalled?: boolean
  /** Present once the VM has ended. */
  readonly exit?: ExitReport
}

/** What virtual machines take of the host's memory, as starts are admitted by it. */
export interface MemoryReading {
  readonly host: HostMemory
  /** What virtual machines may be promised together. */
  readonly limitMb: number
  /** What VMs and starts under way are counted with. */
  readonly instancesMb: number
  readonly templatesMb: number
  /** Starts that did not fit, since this process began. */
  readonly refusals: number
}

export interface VmUsage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
}

/**
 * A VM could not be started, and nothing of it runs; or it could not be suspended, and it runs on. `failure`
 * is a `HostFailure`: `VolumeUnusable` where the guest could not mount.
 */
export class VmmError extends Error {
  override readonly name = 'VmmError'
  readonly failure: 'BootFailed' | 'HostFull' | 'ImageUnusable' | 'VolumeUnusable'
  constructor(failure: VmmError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
