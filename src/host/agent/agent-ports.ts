import type { StartReport } from '../../domain/start-report.ts'
import type { LaunchSpec } from '../../domain/node-protocol.ts'
import type { Images } from '../images/images.ts'
import type { Network } from '../network/network.ts'
import type { Vmm } from '../vmm/vmm.ts'
import type { InstanceStore } from './instance-store.ts'

/** What the agent's core acts on. */
export interface AgentPorts {
  readonly vmm: Vmm
  readonly network: Network
  readonly images: Images
  readonly launches: LaunchSource
  readonly store: InstanceStore
  readonly observer: AgentObserver
  readonly log: AgentLog
  readonly nowMs: () => number
  /** Changes when the machine reboots. */
  readonly hostBootId: string
}

/** Where launch specs come from. Throws `HostStartError` when the API does not give one. */
export interface LaunchSource {
  launchSpec(instanceUuid: string, signal: AbortSignal): Promise<LaunchSpec>
}

/** Told of what happens, for metrics. Must not throw. */
export interface AgentObserver {
  started(report: StartReport, prepareMs: number): void
  startFailed(failure: string): void
  ended(cause: string): void
}

export interface AgentLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
