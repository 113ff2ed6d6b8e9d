import type { StartKind, StartReport } from '../../domain/instance/start-report.ts'
import type { VolumeEvent } from '../../domain/instance/host-work.ts'
import type { LaunchSpec, VolumePlace } from '../../domain/host/api-protocol.ts'
import type { DiskAdmission } from '../disk-room.ts'
import type { Images } from '../images/images.ts'
import type { Transfers } from '../moves/transfers.ts'
import type { Network } from '../network/network.ts'
import type { Vmm } from '../vmm/vmm.ts'
import type { Volumes } from '../volumes/volumes.ts'
import type { InstanceStore } from '../instance/store.ts'

/** The ports through which the agent's core acts. */
export interface AgentPorts {
  readonly vmm: Vmm
  readonly network: Network
  readonly images: Images
  readonly volumes: Volumes
  readonly volumeEvents: VolumeEvents
  readonly launches: LaunchSource
  readonly store: InstanceStore
  readonly disk: DiskAdmission
  /** Absent: this host takes part in no mesh, so no instance moves from or to it. */
  readonly transfers?: Transfers
  readonly observer: AgentObserver
  readonly log: AgentLog
  readonly nowMs: () => number
  /** Says why no VM may start now. Absent: one always may. */
  readonly term?: { refusal(): string | undefined }
  /** An id that changes when the machine reboots. */
  readonly hostBootId: string
}

/** The source of launch specs. Throws `HostStartError` if the API does not give one. */
export interface LaunchSource {
  launchSpec(instanceUuid: string, signal: AbortSignal): Promise<LaunchSpec>
  /** Which host the row of a volume names. Throws if the API does not tell. */
  placeOfVolume(volumeUuid: string): Promise<VolumePlace>
}

/**
 * Reports to the workflow of a volume what the host found out about the volume. The answer `gone` means that
 * the workflow has ended, so the event need not be sent again.
 */
export interface VolumeEvents {
  tell(volumeUuid: string, event: VolumeEvent): Promise<'taken' | 'gone'>
}

/** Is told what happens on the host, for metrics. Its methods must not throw. */
export interface AgentObserver {
  started(report: StartReport, prepareMs: number): void
  startFailed(failure: string): void
  /** A start, or the check of its volume, has waited for its user's turn; see `StartShares`. */
  waited(waitedMs: number): void
  ended(cause: string): void
  /** An instance woke. `wakeMs` is the time from the use of the permit to the entry of the application. */
  woke(kind: StartKind, wakeMs: number): void
  wakeFailed(failure: string): void
  slept(stateful: boolean): void
  standByRefused(reason: string): void
  /** A VM began to wait for room on the host's disk. */
  stalled(): void
}

export interface AgentLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
