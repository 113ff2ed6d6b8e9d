import type { ExitReport } from './exit-report.ts'
import type { StartReport } from './start-report.ts'

/**
 * The work a host does for an instance's workflow, as the activities of the task queue `node-<id>`.
 *
 * Every activity is idempotent and names what it makes after the instance and the boot number, so a repeat finds
 * what an earlier attempt left: nothing here starts a second VM of an instance, and an older boot number than the
 * one the host knows is answered without touching the VM.
 */
export interface HostActivities {
  /**
   * Brings boot number `boot` up and returns when the application has been entered, or when that boot already
   * ended (`exit`). Heartbeats while it works, so a cancellation or a dead host is noticed.
   * Fails with an ApplicationFailure whose type is a `HostFailure`.
   */
  startInstance(input: { readonly instanceUuid: string; readonly boot: number }): Promise<StartResult>
  /**
   * Ends boot number `boot`: by the shutdown signal and, after `graceMs`, the guest's SIGKILL; or at once when
   * `forced`. Returns when the VM is gone. The report is the same that the host signals as `hostEvent`.
   */
  stopInstance(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly forced: boolean
    readonly graceMs: number
  }): Promise<StopResult>
  /** Kills what runs and deletes everything the host keeps of the instance. */
  removeInstance(input: { readonly instanceUuid: string }): Promise<void>
}

export type StartResult = { readonly started: StartReport; readonly exit?: ExitReport }
/** `exit` is absent only where the host never knew that boot. */
export type StopResult = { readonly exit?: ExitReport }

/**
 * Signal `hostEvent` of `instance/<uuid>`, sent at least once; repeats are dropped by boot. `exited` tells of every boot
 * that ended, `started` what became known of a start after it was reported: when the first socket listened.
 */
export type HostEvent =
  | { readonly kind: 'exited'; readonly exit: ExitReport }
  | { readonly kind: 'started'; readonly started: StartReport }
export const hostEventSignalName = 'hostEvent'

/** Why a host could not start an instance. Types of the ApplicationFailure, not messages. */
export const HostFailure = {
  /** The image is not in the registry any more, or its content is not what its digest says. */
  ImageUnavailable: 'ImageUnavailable',
  /** The image is there but can not run (no command, unknown user, unsupported architecture, over a limit). */
  ImageUnusable: 'ImageUnusable',
  /** The host has no memory, disk or address left. */
  HostFull: 'HostFull',
  /** The VM did not reach its application within the boot limit, or the VMM did not start. */
  BootFailed: 'BootFailed',
  /** The instance is not one of this host any more (deleted). */
  UnknownInstance: 'UnknownInstance',
} as const
export type HostFailure = (typeof HostFailure)[keyof typeof HostFailure]

/** Failures that another attempt can not mend. */
export const finalHostFailures: readonly HostFailure[] = [
  HostFailure.ImageUnusable,
  HostFailure.UnknownInstance,
]

export function nodeTaskQueue(nodeId: string): string {
  return `node-${nodeId}`
}

export const controlTaskQueue = 'control'
