import type { HostEvent, VolumeEvent } from '../instance/host-work.ts'
import type { OwnMesh, ToldMesh } from './mesh.ts'
import type { Usage } from '../instance/usage.ts'
import type { HostUpgrade } from './upgrade.ts'
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
 *   GET  /instances                         -> NodeInstances, to delete instances that are not theirs any more
 *                                           and to report theirs that they have lost
 *   GET  /instances/<uuid>/launch           -> LaunchSpec
 *   GET  /volumes/<uuid>                    -> { place: VolumePlace }, before a host overwrites or uses what moved
 *   POST /registry-token  { repository }    -> { token }, to pull that repository
 *   POST /reports  HostReport               -> { taken }: false if the workflow does not exist any more, or if hosts do not report
 *                                           events of this kind; the host does not report the event again
 *
 * API to host, `Authorization: Bearer <NodeHeartbeat.agentSecret>`, on `NodeHeartbeat.agentUrl`:
 *   GET  /instances/<uuid>/log?offset=&limit=&wait= -> LogWindow; with `wait`, once the log goes on after `offset`, or after so many ms
 *   GET  /instances/<uuid>/usage?step=           -> { steps: StepUsage[] }, the oldest first
 *   GET  /services/<uuid>/usage?step=            -> the same, of all instances that the service has or had there
 *   GET  /instances/<uuid>/host-lease           -> HostLeaseView, for explanations; 404 before the first start
 *   POST /instances/<uuid>/begin                -> { up: boolean }, once the first boot of a new instance is over or up
 *   POST /instances/<uuid>/check  InstanceCheck  -> CheckResult (`../rollout/check.ts`); 503 while the host makes too many
 *   POST /usage  { instances: uuid[] }          -> { usage: { [uuid]: Usage } }
 *   POST /loads  { instances: uuid[] }          -> HostLoads, cheap enough to be asked every second for all that run
 *   POST /awake  { instances: uuid[] }          -> { awake: AwakeInstances }, from memory, for reads of sleeping instances
 */
export interface NodeHeartbeat {
  readonly agentUrl: string
  readonly agentSecret: string
  readonly accelerator: 'kvm' | 'tcg' | 'fake'
  readonly memoryMb: number
  /** How many processors VMs can run on. Absent from an agent of an earlier version. */
  readonly cpus?: number
  /** Room for volumes in MiB, including the existing ones. The API promises no more than this. */
  readonly volumeMb: number
  /**
   * The bytes of each user's unpacked images by the user's UUID, for the `maxImageOwnersTold` users that have
   * most. Only full heartbeats have it. Absent: what was told before still holds.
   */
  readonly imageBytes?: Readonly<Record<string, number>>
  /**
   * The networks in which other interfaces of the host have addresses. A host that joins gets a network that
   * overlaps none of them.
   */
  readonly occupiedSubnets: readonly string[]
  readonly version: string
  /** The upgrade that is under way on this machine, or the last one. Absent: none was told. */
  readonly upgrade?: HostUpgrade
  /** How the others find this host in the mesh. Absent: it takes no part. */
  readonly mesh?: OwnMesh
  /** The revision of the mesh that this host was told last. */
  readonly meshRevision?: string
  /**
   * The term of this host: all its VMs end by themselves so long after this request was sent, unless a later
   * heartbeat is answered. Absent: they do not, because the API did not ask for it, or some began before
   * terms existed.
   */
  readonly termMs?: number
  /** After which loss this host has cleared up last; 0 if it was never lost. Absent: it has no terms. */
  readonly loss?: number
}

/** Why a heartbeat is refused whose secret is not that of the host with this id, and what to do. */
export function idTakenText(id: string): string {
  return (
    `another host has the id '${id}': choose another one (ROOST_NODE_ID); or, if this is that host set up anew, ` +
    `let it in with \`roost admin node release ${id}\``
  )
}

/** Why the heartbeats of a host are refused that an administrator removed as lost, and what to do. */
export function removedText(id: string): string {
  return `the host '${id}' was removed as lost, and what was on it begins elsewhere: let this machine join anew under another id`
}

export interface NodeAssignment {
  readonly nodeId: string
  /** The IPv4 network of this host's instances, such as `10.64.0.0/20`; its first address is the host's. */
  readonly subnet: string
  /** The mesh, if it is another one than the host knows. */
  readonly mesh?: ToldMesh
  /** The term that the next heartbeats should tell. Absent: none. */
  readonly termMs?: number
  /**
   * How often this host was lost. If it is not the number in the heartbeat, the answer renews no term: the
   * host first ends its VMs, removes what is not its own any more, and tells this number.
   */
  readonly loss?: number
}

/** Whether the row of a volume names the host that asks, another one, or is not there. */
export const VolumePlace = { Here: 'here', Elsewhere: 'elsewhere', Nowhere: 'nowhere' } as const
export type VolumePlace = (typeof VolumePlace)[keyof typeof VolumePlace]

/** Both lists are read at one moment, so an instance that becomes this host's meanwhile is in one of them. */
export interface NodeInstances {
  readonly instances: readonly NodeInstance[]
  /**
   * The UUIDs of the instances on other hosts that are moving to this one: their rows may name it a moment
   * later. Absent from an older API.
   */
  readonly arriving?: readonly string[]
}

export interface NodeInstance {
  readonly uuid: string
  readonly state: InstanceState
  /** The number of the boot that runs or sleeps, as last recorded; absent from an older API. */
  readonly boot?: number
  /** The service to which it is attached; absent from an older API. */
  readonly serviceUuid?: string | null
}

/**
 * What a host on another machine reports of its own instances and volumes. A host on the machine of the
 * control plane tells Temporal itself.
 */
export type HostReport =
  | { readonly kind: 'instance'; readonly uuid: string; readonly event: HostEvent }
  | { readonly kind: 'volume'; readonly uuid: string; readonly event: VolumeEvent }

/**
 * The events that a host may report. The API passes no others on: `removed` is said in place of a host that
 * never comes back, by the control plane alone.
 */
const reportable: {
  readonly instance: Readonly<Record<HostEvent['kind'], boolean>>
  readonly volume: Readonly<Record<VolumeEvent['kind'], boolean>>
} = {
  instance: {
    exited: true,
    started: true,
    idle: true,
    waking: true,
    'wake-failed': true,
    disabled: true,
    lost: true,
    removed: false,
  },
  volume: { damaged: true, made: true, removed: false },
}

/**
 * Whether a host may report an event of this kind. Any other one may be that of an agent of a later version.
 */
export function isReportable({
  kind,
  event,
}: {
  kind: HostReport['kind']
  event: { kind: string }
}): boolean {
  const kinds: Readonly<Record<string, boolean>> = reportable[kind]
  return Object.hasOwn(kinds, event.kind) && kinds[event.kind] === true
}

/** Everything that a start needs. Only the host on which the instance is placed may ask for it. */
export interface LaunchSpec {
  readonly uuid: string
  readonly name: string
  readonly userUuid: string
  /**
   * The image in the form `<repository>@sha256:<hex>`; official images have the repository
   * `official/<app>`.
   */
  readonly image: string
  /** The user's quota `image_mb`. Absent in a spec that an earlier version stored. */
  readonly imageQuotaMb?: number
  readonly memoryMb: number
  readonly vcpus: number
  /** The arguments. If they are absent, the image's own arguments are used. */
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly privateIp: string
  /**
   * The seat of an instance that moved here and kept an address of another host's network: the address of
   * this host's network after which the host names what it makes for the instance. Nobody uses it.
   */
  readonly seatIp?: string
  readonly mac: string
  readonly scaleToZero: ScaleToZero
  /** The version of all this. Absent before the first change, and from an older API: 0. */
  readonly configVersion?: number
  readonly volume?: LaunchVolume
  /**
   * The state that the row had when the host asked. Absent from an older API. In a spec that was stored it
   * says nothing any more.
   */
  readonly state?: InstanceState
}

export interface LaunchVolume extends VolumeMount {
  readonly uuid: string
  readonly sizeMb: number
  /**
   * Whether the volume's workflow has recorded the volume as complete. If so, a host that does not find the
   * volume has lost it. If not, a start may make it.
   */
  readonly made: boolean
}

/** The longest `wait` of a host for a log to go on. A reader that wants to wait longer asks again. */
export const maxLogWaitMs = 20_000

/** Byte offsets into all output of the instance so far; ends are exclusive. */
export interface LogWindow {
  readonly availableStart: number
  readonly availableEnd: number
  readonly rangeStart: number
  readonly rangeEnd: number
  readonly outputBase64: string
}

export type UsageByInstance = Readonly<Record<string, Usage>>

/**
 * The loads of a host's instances, which autoscale measures. The CPU load is the difference between two
 * answers.
 */
export interface HostLoads {
  /**
   * When the counters were read, by the machine's monotonic clock. That clock begins again when the machine
   * boots, and goes on when the agent restarts. So an answer whose clock went back or jumped comes from
   * another boot of the machine, and is not compared with earlier ones.
   */
  readonly atMs: number
  /** The counters of the instances whose VM runs here, by UUID. */
  readonly loads: Readonly<Record<string, LoadCounters>>
}

export interface LoadCounters {
  /** CPU time, added up over all starts, in steps of 10 ms. */
  readonly cpuTimeMs: number
  /**
   * Requests in flight and connections without HTTP, including those that wait: the mean over a second, as
   * the gateways last reported it.
   */
  readonly inFlight: number
  /** Requests and connections that were finished per second, as the gateways last reported it. */
  readonly handledPerSecond: number
}

/**
 * The largest number of users in `imageBytes`. It keeps a heartbeat below the largest request body that the
 * API reads.
 */
export const maxImageOwnersTold = 10_000
/**
 * The most occupied subnets in one heartbeat. No more can matter: hosts get networks of 10.64.0.0/10, which
 * has 1024 of a /20.
 */
export const maxOccupiedSubnetsTold = 1_024

/** The port of an agent that no setting moved. */
export const usualAgentPort = 7_071

/** A host that does not answer has to be noticed within `placementSilentAfterMs`. */
export const heartbeatIntervalMs = 1_000
/**
 * One of so many heartbeats is full: the host's disk is read for it, and it tells the room of images, which
 * may be half a megabyte. The others take one short transaction each.
 */
export const fullHeartbeatEvery = 5
/** The pause before the next heartbeat while the API does not answer. Users may be waiting for the host. */
export const heartbeatRetryMs = 500
/** How long a host may be silent before it is shown as silent and gets nothing new. */
export const nodeSilentAfterMs = 20_000
/**
 * How long a host may be silent before other hosts come first for what is new: three heartbeats are missing.
 * If there is no other host, it is still chosen until `nodeSilentAfterMs`, so that a restart of the one agent
 * of an installation refuses nothing.
 */
export const placementSilentAfterMs = 3_000
