import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Worker } from '@temporalio/worker'
import {
  createHostActivities,
  createMoveActivities,
  createVolumeActivities,
} from '../../activities/host-activities.ts'
import { reportedEvents } from '../../src/bin/agent-temporal.ts'
import type { HostReport } from '../../src/domain/host/api-protocol.ts'
import { serverUrl } from '../../src/domain/host-and-port.ts'
import { nodeTaskQueue } from '../../src/domain/instance/host-work.ts'
import { maxFeedLineBytes } from '../../src/domain/service/route-feed.ts'
import { createAgentServer } from '../../src/host/agent/agent-http.ts'
import type { AgentLog, AgentPorts } from '../../src/host/agent/agent-ports.ts'
import { ApiClient } from '../../src/host/agent/api-client.ts'
import { beginFirstBoot } from '../../src/host/agent/first-boot.ts'
import { HostAgent } from '../../src/host/agent/host-agent.ts'
import { Registration } from '../../src/host/agent/registration.ts'
import { endlessDisk } from '../../src/host/disk-room.ts'
import { FakeImages } from '../../src/host/fakes/fake-images.ts'
import { FakeNetwork } from '../../src/host/fakes/fake-network.ts'
import { FakeVmm } from '../../src/host/fakes/fake-vmm.ts'
import { FakeVolumes } from '../../src/host/fakes/fake-volumes.ts'
import type { InstanceEntry } from '../../src/host/instance/entry.ts'
import { EventOutbox } from '../../src/host/instance/event-outbox.ts'
import { EventPace } from '../../src/host/instance/event-pace.ts'
import { InstanceStore } from '../../src/host/instance/store.ts'
import { LeaseServer } from '../../src/host/leases/lease-server.ts'
import { LineStream } from '../../src/primitives/line-stream.ts'
import type { PartIdentity } from '../../src/trust/part-identity.ts'
import type { HostLink } from './host-link.ts'

/** What all pretended hosts of a process share. */
export interface HostPlace {
  readonly namespace: string
  /** The directory under which each host has a directory of its own. */
  readonly directory: string
  readonly memoryMb: number
  readonly processors: number
  readonly log: AgentLog
  /** Is told how long the API took for each heartbeat. */
  readonly onBeat: (tookMs: number) => void
}

const volumeMb = 100_000
const sleepsPerMinute = 100_000
/** The longest silence on the feed of names, as agents have it. */
const silenceMs = 15_000

/**
 * A host that pretends: the agent's own core, heartbeats, reports, leases, task queue and feed of names, over
 * the VMM, images, network and volumes of tests. To the control plane it is a machine like any other. Many of
 * them share a process, which `src/bin/agent.ts` could not do.
 */
export class PretendedHost {
  readonly #server: Server
  readonly #worker: Worker
  readonly #registration: Registration
  readonly #outbox: EventOutbox
  readonly #leases: LeaseServer
  readonly #names: LineStream
  readonly #api: ApiClient
  #running: Promise<void> = Promise.resolve()

  private constructor(parts: {
    readonly server: Server
    readonly worker: Worker
    readonly registration: Registration
    readonly outbox: EventOutbox
    readonly leases: LeaseServer
    readonly names: LineStream
    readonly api: ApiClient
  }) {
    this.#server = parts.server
    this.#worker = parts.worker
    this.#registration = parts.registration
    this.#outbox = parts.outbox
    this.#leases = parts.leases
    this.#names = parts.names
    this.#api = parts.api
  }

  /** Opens everything over its link. The host takes work from `start` on. */
  static async open(nodeId: string, link: HostLink, place: HostPlace): Promise<PretendedHost> {
    const directory = path.join(place.directory, nodeId)
    await mkdir(directory, { recursive: true })
    const agentSecret = randomBytes(32).toString('base64url')
    const { apiUrl, joinToken, identity, connection } = link
    const api = new ApiClient({
      apiUrl,
      nodeId,
      joinToken,
      agentSecret,
      ...(identity && { identity: () => identity }),
    })
    const { agent, entries, vmm } = openAgent({ directory, nodeId, api, place })
    const log = place.log
    const leases = new LeaseServer({ agentSecret, nodeId, leases: agent.leases, log, nowMs: Date.now })
    const server = openServer(agentSecret, { agent, leases, log, identity })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const registration = new Registration({
      agentDirectory: directory,
      nodeId,
      send: async (beat) => {
        const sentMs = performance.now()
        const assigned = await api.heartbeat(beat)
        place.onBeat(performance.now() - sentMs)
        return assigned
      },
      describe: async (isFull) =>
        await Promise.resolve({
          agentUrl: serverUrl(identity ? 'https' : 'http', { host: '127.0.0.1', port }),
          agentSecret,
          accelerator: vmm.accelerator,
          memoryMb: vmm.memory()?.limitMb ?? 0,
          cpus: vmm.processors,
          volumeMb,
          ...(isFull && { imageBytes: {} }),
          occupiedSubnets: [],
          version: '0.1.0',
        }),
      onReassigned: () => log.error({ nodeId }, 'the host was given another network'),
      onRefused: () => log.error({ nodeId }, 'the host was refused'),
      isJoined: identity !== undefined,
      log,
    })
    await registration.assignment()
    const outbox = openOutbox(agent, { entries, api, log })
    const worker = await Worker.create({
      connection,
      namespace: place.namespace,
      taskQueue: nodeTaskQueue(nodeId),
      activities: {
        ...createHostActivities({ agent }),
        ...createMoveActivities(agent),
        ...createVolumeActivities(agent),
      },
      activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, maximum: 5 },
    })
    return new PretendedHost({ server, worker, registration, outbox, leases, names: openNames(api), api })
  }

  start(): void {
    this.#registration.start()
    this.#running = this.#worker.run()
    this.#outbox.wake()
    this.#names.start()
  }

  async stop(): Promise<void> {
    this.#registration.stop()
    await Promise.all([this.#outbox.close(), this.#names.stop()])
    if (this.#worker.getState() === 'RUNNING') this.#worker.shutdown()
    await this.#running
    this.#leases.close()
    this.#server.close()
    this.#server.closeAllConnections()
    await this.#api.close()
  }
}

function openAgent(options: {
  readonly directory: string
  readonly nodeId: string
  readonly api: ApiClient
  readonly place: HostPlace
}) {
  const { directory, api, place } = options
  const entries = new Map<string, InstanceEntry>()
  const memory = { totalMb: place.memoryMb, reserveMb: 0, overcommit: 1 }
  const vmm = new FakeVmm({ memory, processors: place.processors })
  const ports: AgentPorts = {
    vmm,
    network: new FakeNetwork(),
    images: new FakeImages(),
    volumes: new FakeVolumes(),
    disk: endlessDisk,
    volumeEvents: eventsOf(api).volumeEvents,
    launches: api,
    store: new InstanceStore(directory),
    observer: unobserved,
    log: place.log,
    nowMs: Date.now,
    hostBootId: 'pretended',
  }
  return { vmm, entries, agent: new HostAgent(ports, entries) }
}

/** Hosts report to the API, as those on other machines do. */
function eventsOf(api: ApiClient) {
  return reportedEvents(async (report: HostReport) => await api.tell(report))
}

function openOutbox(
  agent: HostAgent,
  {
    entries,
    api,
    log,
  }: {
    readonly entries: ReadonlyMap<string, InstanceEntry>
    readonly api: ApiClient
    readonly log: AgentLog
  },
): EventOutbox {
  const pace = new EventPace({ sleepsPerMinute, nowMs: () => performance.now() })
  const { events } = eventsOf(api)
  const outbox = new EventOutbox({ entries: () => entries.values(), events, pace, log })
  agent.end.onNews(() => outbox.wake())
  return outbox
}

function openServer(
  agentSecret: string,
  parts: {
    readonly agent: HostAgent
    readonly leases: LeaseServer
    readonly log: AgentLog
    readonly identity: PartIdentity | undefined
  },
): Server {
  const { agent, leases, log, identity } = parts
  const unasked = async (): Promise<never> => {
    throw await Promise.resolve(new Error('a pretended host has no usage, log or application to look at'))
  }
  return createAgentServer({
    ...(identity && { identity }),
    agentSecret,
    log,
    upgrade: (request, socket, head) => leases.receive(request, socket, head),
    answers: {
      log: unasked,
      history: unasked,
      serviceHistory: unasked,
      usage: unasked,
      loads: unasked,
      check: unasked,
      metrics: unasked,
      awake: (uuids) => agent.leases.awake(uuids),
      begin: async (uuid) => await beginFirstBoot(agent, uuid),
      hostLease: (uuid) => agent.leases.hostLease(uuid),
      notReady: () => undefined,
    },
  })
}

/** Reads the names of the host's instances, as the nameserver of its private networks does. */
function openNames(api: ApiClient): LineStream {
  let revision: string | undefined
  return new LineStream({
    ask: () => api.namesRequest(revision),
    connect: api.connect,
    maxLineBytes: maxFeedLineBytes,
    silenceMs,
    onLine: (line) => {
      if ('kind' in line && line.kind === 'end' && 'revision' in line) revision = String(line.revision)
    },
  })
}

const nothing = (): void => undefined
const unobserved: AgentPorts['observer'] = {
  started: nothing,
  startFailed: nothing,
  waited: nothing,
  ended: nothing,
  woke: nothing,
  wakeFailed: nothing,
  slept: nothing,
  standByRefused: nothing,
  stalled: nothing,
}
