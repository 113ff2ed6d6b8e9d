import type { Usage } from '../instance/usage.ts'
import type { InstanceState } from '../instance/state.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'
import type { VolumeMount } from '../volume/state.ts'

/**
 * What a host and the API say to each other over HTTP. Lifecycle work goes through Temporal; this carries
 * what must not be in a workflow's history (environment, credentials) and what a reader wants at once (log,
 * usage).
 *
 * Host to API, all below `/internal/nodes/<node id>`. The join token only lets an agent join under an id that
 * nobody has; from its first heartbeat on the id belongs to the agent with that `agentSecret`.
 *
 * `Authorization: Bearer <join token>`:
 *   PUT  /                                  NodeHeartbeat -> NodeAssignment, every `heartbeatIntervalMs`;
 *                                           401: not the join token, 403: the id belongs to another agent
 * `Authorization: Bearer <NodeHeartbeat.agentSecret>`; 401: not the secret that this id belongs to:
 *   GET  /instances                         -> { instances: NodeInstance[] }, to collect what is not theirs any more
 *                                           and to tell of what is theirs and lost
 *   GET  /instances/<uuid>/launch           -> LaunchSpec
 *   POST /registry-token  { repository }    -> { token }, to pull that repository
 *
 * API to host, `Authorization: Bearer <NodeHeartbeat.agentSecret>`, on `NodeHeartbeat.agentUrl`:
 *   GET  /instances/<uuid>/log?offset=&limit=   -> LogWindow
 *   POST /usage  { instances: uuid[] }          -> { usage: { [uuid]: Usage } }
 *   POST /loads  { instances: uuid[] }          -> HostLoads, cheap enough to be asked every second for all that run
 *   POST /awake  { instances: uuid[] }          -> { awake: AwakeInstances }, from memory, for reads of sleeping instances
 */
export interface NodeHeartbeat {
  readonly agentUrl: string
  readonly agentSecret: string
  readonly accelerator: 'kvm' | 'tcg' | 'fake'
  readonly memoryMb: number
  /** Room for volumes in all, those that it has included; nothing is promised beyond it. */
  readonly volumeMb: number
  /**
   * What the unpacked images of each user take, by the user's UUID: of those `maxImageOwnersTold` that have
   * most.
   */
  readonly imageBytes: Readonly<Record<string, number>>
  readonly version: string
}

export interface NodeAssignment {
  readonly nodeId: string
  /** The IPv4 network of this host's instances, such as `10.64.0.0/16`; its first address is the host's. */
  readonly subnet: string
}

export interface NodeInstance {
  readonly uuid: string
  readonly state: InstanceState
  /** Which boot runs or sleeps, as last recorded; absent from an older API. */
  readonly boot?: number
}

/** Everything a start needs. Only the host that the instance is placed on can ask for it. */
export interface LaunchSpec {
  readonly uuid: string
  readonly name: string
  readonly userUuid: string
  /** `<repository>@sha256:<hex>`; official images have the repository `official/<app>`. */
  readonly image: string
  /** The user's quota `image_mb`. Absent in what an earlier version has kept. */
  readonly imageQuotaMb?: number
  readonly memoryMb: number
  readonly vcpus: number
  /** Absent: the image's own. */
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly privateIp: string
  readonly mac: string
  readonly scaleToZero: ScaleToZero
  readonly volume?: LaunchVolume
}

export interface LaunchVolume extends VolumeMount {
  readonly uuid: string
  readonly sizeMb: number
  /**
   * Its workflow has it on record as complete: a host that does not find it has lost it. Else a start may
   * make it.
   */
  readonly made: boolean
}

/** Byte offsets into everything the instance ever printed; ends are exclusive. */
export interface LogWindow {
  readonly availableStart: number
  readonly availableEnd: number
  readonly rangeStart: number
  readonly rangeEnd: number
  readonly outputBase64: string
}

export type UsageByInstance = Readonly<Record<string, Usage>>

/** What autoscale measures. Of CPU time, two answers tell the load between them. */
export interface HostLoads {
  /**
   * The machine's clock that only goes forward and begins anew with it, when the counters were read; an agent
   * that starts again goes on with it. So an answer whose clock went back, or leapt, is of another life of
   * the machine and compares with none before.
   */
  readonly atMs: number
  /** Those whose virtual machine runs here. */
  readonly loads: Readonly<Record<string, LoadCounters>>
}

export interface LoadCounters {
  /** Accumulates over starts, in steps of 10 ms. */
  readonly cpuTimeMs: number
  /**
   * Connections without HTTP and requests in flight in the mean over a second, and what waits to be either,
   * as gateways said last.
   */
  readonly inFlight: number
  /** Connections and requests that were finished, by the same word. */
  readonly handledPerSecond: number
}

/** A heartbeat stays below what the API reads of a request. */
export const maxImageOwnersTold = 10_000

export const heartbeatIntervalMs = 5_000
/** A host that was silent for this long gets no new instances. */
export const nodeSilentAfterMs = 20_000
