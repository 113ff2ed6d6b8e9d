/**
 * All that parts of Roost say to each other, and all that they leave for each other on disk. Users upgrade
 * part by part and host by host, so the two sides of each row may be of two versions. A part of version N
 * understands parts of the versions N - 1 and N + 1.
 *
 * The rule for changes:
 *   A new field is optional, and so is a new kind of message. Readers ignore what they do not know, but keep
 *   their limits on sizes. The version stays.
 *   To remove a field, or to give it another meaning, needs the version + 1. That version still writes what
 *   readers of the one before need, and reads what writers of the one before write. The version after it
 *   leaves that out.
 *
 * `test/protocols` has recorded messages for each row, and today's readers have to understand them.
 */
export interface Protocol {
  readonly version: number
  /** What it is, as the object of "speaks version 1 of". */
  readonly what: string
  /** What this version is, in a sentence. */
  readonly says: string
  readonly writer: string
  /** The file that reads it. */
  readonly reader: string
}

/** What processes say to each other. */
export const wires = {
  hostCalls: {
    version: 1,
    what: 'the calls of hosts to the API',
    says: 'JSON over HTTP below `/internal/nodes/<id>`: heartbeats, launch specs, reports and tokens; told by a header.',
    writer: 'agent',
    reader: 'src/api/internal/node-messages.ts',
  },
  hostAnswers: {
    version: 1,
    what: 'the answers of the API to hosts',
    says: 'JSON: an assignment, the instances of the host, a launch spec, a token, a certificate.',
    writer: 'api',
    reader: 'src/host/agent/api-client.ts',
  },
  mesh: {
    version: 1,
    what: 'the mesh that hosts are told',
    says: 'The field `mesh` of the answer to a heartbeat, with a revision and all machines.',
    writer: 'api',
    reader: 'src/host/mesh/mesh.ts',
  },
  join: {
    version: 1,
    what: 'the join',
    says: 'One `POST /join` with the secret of an invitation and public keys; told by a header.',
    writer: 'the machine that joins',
    reader: 'src/api/remote/join.ts',
  },
  joinAnswer: {
    version: 1,
    what: 'the answer to a join',
    says: 'JSON with the id of the host, its roles and its certificates.',
    writer: 'api',
    reader: 'src/trust/join-client.ts',
  },
  toldSettings: {
    version: 1,
    what: 'the settings that a joined machine is told',
    says: 'JSON: what gateways have in common, what APIs and workers have in common, and where the APIs are.',
    writer: 'api',
    reader: 'src/launch/host/told-settings.ts',
  },
  routes: {
    version: 1,
    what: 'the feed of routes',
    says: 'Lines of JSON in blocks, as in `src/domain/service/route-feed.ts`; told by a header.',
    writer: 'api',
    reader: 'src/gateway/route-table.ts',
  },
  names: {
    version: 1,
    what: 'the feed of names',
    says: 'Lines of JSON in blocks, as in `src/domain/service/route-feed.ts`; told by a header.',
    writer: 'api',
    reader: 'src/host/dns/private-names.ts',
  },
  leases: {
    version: 1,
    what: 'the leases',
    says: 'Lines of JSON of a gateway, as in `src/domain/standby/lease-protocol.ts`; told by a header.',
    writer: 'gateway',
    reader: 'src/host/leases/gateway-messages.ts',
  },
  leaseAnswers: {
    version: 1,
    what: 'the answers about leases',
    says: 'Lines of JSON of a host over the same connection.',
    writer: 'agent',
    reader: 'src/gateway/hosts/host-messages.ts',
  },
  agentCalls: {
    version: 1,
    what: 'the calls of the API to hosts',
    says: 'JSON over HTTP to the agent: logs, usage, loads, checks, first boots; told by a header.',
    writer: 'api, worker',
    reader: 'src/host/agent/agent-http.ts',
  },
  agentAnswers: {
    version: 1,
    what: 'the answers of hosts to the API',
    says: 'JSON: a window of a log, usage, loads, which instances are awake, a lease.',
    writer: 'agent',
    reader: 'src/control/host-client.ts',
  },
  exec: {
    version: 1,
    what: 'the messages of exec sessions',
    says: 'A WebSocket from the API to the agent, with text messages of JSON and binary ones of bytes.',
    writer: 'api',
    reader: 'src/domain/instance/exec-protocol.ts',
  },
  relay: {
    version: 1,
    what: 'the calls through the relay',
    says: "The few methods of Temporal's own protocol that a worker of activities needs; told by a header.",
    writer: 'agent',
    reader: 'src/relay/call-head.ts',
  },
  hostWork: {
    version: 1,
    what: "the arguments of hosts' activities",
    says: 'JSON that Temporal carries to the task queue of a host, as in `src/domain/instance/host-work.ts`.',
    writer: 'worker',
    reader: 'activities/host-activities.ts',
  },
  partCalls: {
    version: 1,
    what: 'the calls of parts beside the API',
    says: 'JSON over HTTP: a certificate of the metro domain, a public key, and services to be counted.',
    writer: 'gateway, worker, api',
    reader: 'src/api/internal/part-endpoints.ts',
  },
  gatewayCounts: {
    version: 1,
    what: 'the counts of gateways',
    says: 'JSON over HTTP: for each service what a gateway has counted since it began.',
    writer: 'gateway, api',
    reader: 'src/control/part-client.ts',
  },
  moves: {
    version: 1,
    what: 'the moves between hosts',
    says: 'HTTP through the mesh: a copy as JSON, files as zstd streams with a checksum.',
    writer: 'agent of the old host',
    reader: 'src/host/agent/instance-fetch.ts',
  },
  handOver: {
    version: 1,
    what: 'the hand-over',
    says: 'Words over the channel that Node gives a child: the part is leaving, and the supervisor lets it go.',
    writer: 'supervisor, gateway',
    reader: 'src/launch/parts/part-process.ts',
  },
  upgrade: {
    version: 1,
    what: 'the words of an upgrade',
    says: 'Lines of JSON over a socket: the directory of the next version, then each step and the outcome.',
    writer: '`roost upgrade`, the process that runs the platform',
    reader: 'src/launch/upgrade/upgrade-door.ts',
  },
  keeperEvents: {
    version: 1,
    what: "the keeper's events",
    says: 'Lines of words that are only added, on a socket and in a file; `guest/keeper/events.c` lists them.',
    writer: 'keeper',
    reader: 'src/host/vmm/vm-events.ts',
  },
  guestExec: {
    version: 2,
    what: 'the frames of exec sessions in guests',
    says: "Frames of bytes as in `guest/init/exec.h`; version 1 has programs alone, and the guest's greeting tells its own.",
    writer: 'guest',
    reader: 'src/host/exec/exec-frames.ts',
  },
} as const satisfies Readonly<Record<string, Protocol>>

/** What a part leaves on disk for itself or for another one, which may be of another version by then. */
export const keptFiles = {
  instanceRecord: {
    version: 1,
    what: 'the record of an instance',
    says: '`record.json` in the directory of an instance: how far its newest boot came.',
    writer: 'agent',
    reader: 'src/host/instance/store.ts',
  },
  launchCopy: {
    version: 1,
    what: 'the launch spec of an instance',
    says: '`launch/launch.json` in the directory of an instance: what its next wake is launched with.',
    writer: 'agent',
    reader: 'src/host/instance/store.ts',
  },
  vmRecord: {
    version: 1,
    what: 'the record of a VM',
    says: '`vm/vm.json` in the directory of an instance, by which a new agent finds the VM.',
    writer: 'agent',
    reader: 'src/host/vmm/vm-record.ts',
  },
  snapshotRecord: {
    version: 1,
    what: 'the record of a snapshot',
    says: '`snapshot/snapshot.json` in the directory of an instance: which starts the memory fits.',
    writer: 'agent',
    reader: 'src/host/vmm/snapshot-files.ts',
  },
  imageRecord: {
    version: 1,
    what: 'the record of an image',
    says: '`image.json` in the directory of a digest: what the image starts.',
    writer: 'agent',
    reader: 'src/host/images/image-store.ts',
  },
  volumeHold: {
    version: 1,
    what: 'the hold of a volume',
    says: '`hold.json` in the directory of a volume: which instance has it.',
    writer: 'agent',
    reader: 'src/host/volumes/volume-holds.ts',
  },
  termFile: {
    version: 1,
    what: 'the file of the term',
    says: "One line with the deadline, twice, and the machine's boot; it is written in place.",
    writer: 'agent',
    reader: 'guest/keeper/term.c',
  },
  termState: {
    version: 1,
    what: 'what an agent knows of the term',
    says: '`term.json` in the directory of the agent: the term that the API asked for, and the last loss.',
    writer: 'agent',
    reader: 'src/host/agent/term-state.ts',
  },
  assignment: {
    version: 1,
    what: 'the assignment of a host',
    says: '`assignment.json` in the directory of the agent: the network of the host.',
    writer: 'agent',
    reader: 'src/host/agent/registration.ts',
  },
  namesFile: {
    version: 1,
    what: 'the last names',
    says: 'A list in JSON of the private names that the API sent last.',
    writer: 'agent',
    reader: 'src/host/dns/names-file.ts',
  },
  meshKey: {
    version: 1,
    what: 'the key of the mesh',
    says: '`mesh-key` in the directory of the agent: a private key in base64.',
    writer: 'agent',
    reader: 'src/host/mesh/mesh-key.ts',
  },
  routesFile: {
    version: 2,
    what: 'the last routes',
    says: '`routes.jsonl`: a header, the lines of a snapshot and a checksum; since version 2, secrets are sealed.',
    writer: 'gateway',
    reader: 'src/gateway/table-file.ts',
  },
  joinedHost: {
    version: 1,
    what: 'what a machine keeps of its join',
    says: '`host.json`: which host it is, its roles, and where the control plane is.',
    writer: 'roost join',
    reader: 'src/launch/host/joined-host.ts',
  },
  upgradeRecord: {
    version: 1,
    what: 'the record of an upgrade',
    says: '`upgrade.json` in the directory of the agent: how an upgrade of this machine goes, or went last.',
    writer: 'the process that runs the platform',
    reader: 'src/host/agent/upgrade-file.ts',
  },
  runFile: {
    version: 1,
    what: 'the file of a running part',
    says: '`<part>.json` in the run directory: the process of the part, and the signal that ends it.',
    writer: 'supervisor',
    reader: 'src/launch/parts/stale-processes.ts',
  },
} as const satisfies Readonly<Record<string, Protocol>>

export const protocols = { ...wires, ...keptFiles }
export type ProtocolName = keyof typeof protocols

/** The header in which a request tells the version of its wire. A request without it is of version 1. */
export const protocolHeader = 'roost-protocol'
/** The status of the answer to a request of a version that is not understood: 426 Upgrade Required. */
export const otherVersion = 426
const untoldVersion = 1
/** The most characters of a wrong value that an error repeats. */
const maxShownLength = 32

/** The header of requests on this wire. */
export function toldProtocol({ version }: Pick<Protocol, 'version'>): { readonly [protocolHeader]: string } {
  return { [protocolHeader]: String(version) }
}

/** Whether a part understands what one of the version `told` wrote. */
export function understands({ version }: Pick<Protocol, 'version'>, told: unknown): boolean {
  return Number.isSafeInteger(told) && Math.abs(Number(told) - version) <= 1
}

/**
 * Why a request is refused that tells this version in its header, and what to do. Undefined if it is
 * understood. `peer` sent the request, and `own` answers it.
 */
export function versionRefusal(
  wire: Pick<Protocol, 'version' | 'what'>,
  told: string | undefined,
  { peer, own }: { readonly peer: string; readonly own: string },
): string | undefined {
  const text = told ?? String(untoldVersion)
  if (!/^\d{1,9}$/.test(text))
    return `the header '${protocolHeader}' must be a whole number, but is '${text.slice(0, maxShownLength)}'`
  const { version, what } = wire
  const theirs = Number(text)
  if (understands(wire, theirs)) return undefined
  return (
    `${peer} speaks version ${theirs} of ${what}, and ${own} speaks version ${version}, ` +
    `which understands one more and one less: upgrade ${theirs < version ? peer : own}`
  )
}
