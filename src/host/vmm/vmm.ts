import type { ExitReport } from '../../domain/exit-report.ts'
import type { StartReport } from '../../domain/start-report.ts'
import type { PreparedImage } from '../images/images.ts'
import type { Attachment } from '../network/network.ts'

/**
 * The port through which an agent runs virtual machines: one VM per instance at most, named by instance and boot.
 * VMs outlive the process that holds this object; `recover` finds them again.
 *
 * Exits are level-triggered: `status` tells of a VM that ended, however long ago, until `forget` is called, and
 * `onExit` is only the wake-up that says one is there. So is the time of the first listening socket, with `onListening`.
 */
export interface Vmm {
  readonly accelerator: 'kvm' | 'tcg' | 'fake'
  /**
   * Starts the VM and resolves when its application has been entered (for a kernel of the user's own: when its CPUs
   * run). A VM that ends before that resolves too; its report then has `applicationStarted: false`.
   * Throws `VmmError` when there is no VM afterwards. Calling again for a VM that runs resolves with the same report.
   */
  start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport>
  /** Sends the shutdown signal; the guest kills the application after `graceMs`. Returns once sent. Idempotent. */
  shutdown(vm: VmName, options: { readonly graceMs: number }): Promise<void>
  /** Ends the VM at once. Resolves when its process is gone. `cause` goes into the exit report. */
  kill(vm: VmName, cause: 'forced' | 'host-halted'): Promise<void>
  /** What runs or has ended and is not forgotten, found on disk: what a new agent starts from. */
  recover(): Promise<readonly VmStatus[]>
  status(vm: VmName): Promise<VmStatus | undefined>
  /** Called with every VM that ended, after its report is durable on disk. */
  onExit(listener: (vm: VmName, exit: ExitReport) => void): void
  /** Called with a VM whose application listens on a socket for the first time: its start report has that time now. */
  onListening(listener: (vm: VmName) => void): void
  /** Memory and CPU of the VM's own process; the last known CPU time once it ended; undefined if never started. */
  usage(vm: VmName): Promise<VmUsage | undefined>
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
  readonly memoryMb: number
  readonly vcpus: number
  readonly image: PreparedImage
  readonly process: GuestProcess
  readonly attachment: Attachment
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
  /** Present once the VM has ended. */
  readonly exit?: ExitReport
}

export interface VmUsage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
}

/** A VM could not be started; nothing of it runs. `failure` is `BootFailed` or `HostFull` or `ImageUnusable`. */
export class VmmError extends Error {
  override readonly name = 'VmmError'
  readonly failure: 'BootFailed' | 'HostFull' | 'ImageUnusable'
  constructor(failure: VmmError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
