import { once } from 'node:events'
import { Server as SecureServer } from 'node:https'
import { availableParallelism } from 'node:os'
import { pino } from 'pino'
import type { NodeHeartbeat, NodeInstances } from '../domain/host/api-protocol.ts'
import { roostVersion } from '../domain/roost-version.ts'
import { serverUrl } from '../domain/host-and-port.ts'
import {
  createHostActivities,
  createMoveActivities,
  createVolumeActivities,
} from '../../activities/host-activities.ts'
import { createAgentServer } from '../host/agent/agent-http.ts'
import { AgentMetrics } from '../host/agent/agent-metrics.ts'
import type { AgentPorts } from '../host/agent/agent-ports.ts'
import { ApiClient } from '../host/agent/api-client.ts'
import { ConsolePromises } from '../host/instance/console-promises.ts'
import { lockAgentDirectory } from '../host/agent/agent-directory.ts'
import { DirectoryInUse } from '../primitives/directory-lock.ts'
import { EventOutbox } from '../host/instance/event-outbox.ts'
import { EventPace } from '../host/instance/event-pace.ts'
import { beginFirstBoot } from '../host/agent/first-boot.ts'
import { garbageIntervalMs, GarbageSweep } from '../host/agent/garbage-sweep.ts'
import { InstanceChecks } from '../host/check/instance-checks.ts'
import { ExecServer } from '../host/exec/exec-server.ts'
import { HaltMarker } from '../host/agent/halt-marker.ts'
import { callOffStarts, endAllVms } from '../host/agent/cut-off.ts'
import { HostTerm } from '../host/agent/host-term.ts'
import { readHostBootId } from '../host/vmm/host-facts.ts'
import { HostAgent } from '../host/agent/host-agent.ts'
import type { InstanceEntry } from '../host/instance/entry.ts'
import { LostBoots } from '../host/instance/lost-boots.ts'
import { InstanceStore } from '../host/instance/store.ts'
import { SubnetOccupied } from '../host/network/occupied-subnets.ts'
import { repeat } from '../host/agent/periodic-task.ts'
import { pinnedImages } from '../host/images/pinned-images.ts'
import { recover } from '../host/agent/recovery.ts'
import { loadAgentSecret, Registration } from '../host/agent/registration.ts'
import { upgradeTold } from '../host/agent/upgrade-file.ts'
import { ToldImages } from '../host/images/told-images.ts'
import { HttpTransfers } from '../host/moves/http-transfers.ts'
import { LeaseServer } from '../host/leases/lease-server.ts'
import { sampleIntervalMs, UsageMeter } from '../host/instance/usage-meter.ts'
import { ServiceUsage } from '../host/instance/service-usage.ts'
import { UsageHistory, historyIntervalMs } from '../host/instance/usage-history.ts'
import { ConsoleWaits } from '../host/console/console-waits.ts'
import { openDrivers, subnetsInUse } from './agent-drivers.ts'
import { createHostReports } from '../control/host-reports.ts'
import { NodeWorker, reportedEvents } from './agent-temporal.ts'
import { openMesh, openMeshEntrance } from './agent-mesh.ts'
import { logSpans } from './span-log.ts'
import { serverTls } from '../trust/part-identity.ts'
import { openTracing } from '../tracing/tracing.ts'
import { keptIdentity, readJoinToken, readTemporalPlace, startWith } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * The time between two checks of all VMs. Ends of VMs and first sockets are reported when they happen. The
 * check finds those that could not be recorded then.
 */
const checkIntervalMs = 15_000
const imageCollectIntervalMs = 600_000
/** How long an agent that leaves its VMs may take to send what it has to tell. */
const leaveLimitMs = 1_000

const settings = await startWith('agent', () => readSettings(process.env))
/** What this host got when it joined. Absent: it is the machine of the control plane. */
const identity = await startWith('agent', async () => await keptIdentity(settings.identityDir))
const joinToken =
  identity === undefined ? await startWith('agent', () => readJoinToken(settings.joinTokenFile)) : ''
const log = pino({ level: settings.logLevel })
logSpans(settings)
const tracer = await openTracing('agent', { env: process.env, log })

try {
  lockAgentDirectory(settings.agentDir)
} catch (error) {
  if (!(error instanceof DirectoryInUse)) throw error
  log.fatal(error.message)
  process.exit(1)
}

const agentSecret = await loadAgentSecret(settings.agentDir)
const api = new ApiClient({
  apiUrl: settings.apiUrl,
  nodeId: settings.nodeId,
  joinToken,
  agentSecret,
  ...(identity && { identity: () => identity.current }),
})
await identity?.keepValid(
  async () => await api.certificate(),
  (error) =>
    log.warn({ err: error }, 'the certificate of this host could not be renewed; it will be tried again'),
)
const store = new InstanceStore(settings.agentDir)
const entries = new Map<string, InstanceEntry>()
const drivers = await openDrivers(settings, api, log, () => pinnedImages(entries.values()))
drivers.disk.add(
  new ConsolePromises({
    directory: settings.agentDir,
    store,
    instances: () => entries.keys(),
    nowMs: Date.now,
  }),
)
const occupiedSubnets = await subnetsInUse(settings)
const metrics = new AgentMetrics(entries, {
  volumeRoom: async () => await drivers.volumes.room(),
  memory: () => drivers.vmm.memory(),
  notReady: agentNotReady,
})
const toldImages = new ToldImages({ images: drivers.images, log })
/** The room for volumes, in MiB, at the last successful reading. */
let knownVolumeMb = 0
/** Whether the host's network and its mesh are open. */
let isConnected = false
/** Why the agent does not accept work yet. It is undefined once the agent does. */
let notReady: string | undefined = 'the API has not assigned a network yet'

const registration = new Registration({
  agentDirectory: settings.agentDir,
  nodeId: settings.nodeId,
  send: async (beat) => await api.heartbeat(beat),
  describe: async (isFull) => ({
    agentUrl: serverUrl(identity ? 'https' : 'http', { host: settings.agentHost, port: settings.agentPort }),
    agentSecret,
    accelerator: drivers.vmm.accelerator,
    memoryMb: drivers.vmm.memory()?.limitMb ?? 0,
    cpus: drivers.vmm.processors,
    volumeMb: isFull ? await volumeMb() : knownVolumeMb,
    ...(isFull && { imageBytes: await toldImages.bytesByUser() }),
    occupiedSubnets,
    version: roostVersion,
    ...(await upgradeTold(settings.agentDir)),
    ...meshTold(),
  }),
  onMesh: async (told) => await mesh?.take(told),
  onReassigned: ({ subnet }) => {
    log.fatal({ subnet }, 'the API assigns another network now; the agent starts again with it')
    process.exit(1)
  },
  isJoined: identity !== undefined,
  onRefused: () => {
    log.fatal({ node: settings.nodeId }, 'the installation does not take this host, so the agent ends')
    process.exit(1)
  },
  log,
})

const assignment = registration.assignment()
const { network, dns, tap } = drivers.network((await assignment).subnet)
try {
  await network.open()
} catch (error) {
  if (!(error instanceof SubnetOccupied)) throw error
  log.fatal(error.message)
  process.exit(1)
}
metrics.showNetwork(async () => await network.load())
const hostBootId = await readHostBootId()
const term = await HostTerm.open({
  agentDirectory: settings.agentDir,
  clock: await drivers.bootClock(),
  hostBootId,
  vms: drivers.vmm.terms,
  guard: async (leftMs) => await network.guard(leftMs),
  endAll: async () => await endAllVms(entries, drivers),
  clearUp: async () => {
    callOffStarts(entries)
    await garbage.sweep({ wasLost: true })
    // What sleeps here and was removed is reported, so that it can be woken here again.
    await garbage.sweep()
  },
  log,
})
metrics.showTerm(() => term.secondsLeft())
const mesh = await openMesh({
  settings,
  network: tap,
  isJoined: identity !== undefined,
  instances: () => dns?.names.elsewhere() ?? new Map(),
  log,
})
dns?.onNames(() => mesh?.tellInstances())
isConnected = true
await dns?.open()

const temporal = {
  ...(await startWith('agent', () => readTemporalPlace(settings))),
  ...(identity && { identity: () => identity.current }),
}
const reports = identity === undefined ? createHostReports(temporal) : undefined
const hostEvents = reportedEvents(async (report) => await (reports ?? api).tell(report))
const ports: AgentPorts = {
  vmm: drivers.vmm,
  network,
  images: drivers.images,
  volumes: drivers.volumes,
  disk: drivers.disk,
  ...(mesh !== undefined &&
    tap !== undefined && { transfers: new HttpTransfers({ address: tap.hostAddress, network, log }) }),
  volumeEvents: hostEvents.volumeEvents,
  launches: api,
  store,
  observer: metrics,
  log,
  nowMs: Date.now,
  hostBootId,
  term,
}
const agent = new HostAgent(ports, entries)
const meter = new UsageMeter(ports, entries)
const serviceUsage = new ServiceUsage({
  agentDirectory: settings.agentDir,
  nowMs: Date.now,
  list: async () => (await api.instances()).instances,
})
const history = new UsageHistory(ports, entries, serviceUsage)

const leaseServer = new LeaseServer({
  agentSecret,
  nodeId: settings.nodeId,
  leases: agent.leases,
  log,
  nowMs: Date.now,
})
const execServer = new ExecServer({ agentSecret, leases: agent.leases, vmm: drivers.vmm, log })
const checks = new InstanceChecks({ leases: agent.leases, entries, nowMs: Date.now })
const consoleWaits = new ConsoleWaits()
const server = createAgentServer({
  ...(identity && { identity: identity.current }),
  agentSecret,
  log,
  upgrade: (request, socket, head) => {
    if (!execServer.receive(request, socket, head)) leaseServer.receive(request, socket, head)
  },
  answers: {
    log: async (instanceUuid, request) =>
      await consoleWaits.read(store.consoleDirectory(instanceUuid), request),
    history: async (instanceUuid, step) => await history.read(instanceUuid, step),
    serviceHistory: async (serviceUuid, step) => await serviceUsage.read(serviceUuid, step),
    async usage(instanceUuids) {
      await agent.leases.countsTold()
      return await meter.usageOf(instanceUuids)
    },
    loads: async (instanceUuids) => await meter.loadsOf(instanceUuids),
    awake: (instanceUuids) => agent.leases.awake(instanceUuids),
    begin: async (instanceUuid) => await beginFirstBoot(agent, instanceUuid),
    check: async (instanceUuid, check, gone) => await checks.check(instanceUuid, check, gone),
    hostLease: (instanceUuid) => agent.leases.hostLease(instanceUuid),
    notReady: agentNotReady,
    metrics: async () => await metrics.registry.metrics(),
  },
})

const meshEntrance = openMeshEntrance({
  settings,
  network: tap,
  mesh,
  leaseServer,
  others: { calls: server, exec: (request, socket, head) => execServer.receive(request, socket, head) },
})

const pace = new EventPace({
  sleepsPerMinute: settings.sleepsPerMinute * availableParallelism(),
  nowMs: () => performance.now(),
})
const outbox = new EventOutbox({ entries: () => entries.values(), events: hostEvents.events, pace, log })
agent.end.onNews(() => {
  outbox.wake()
})

const haltMarker = new HaltMarker(settings.agentDir)
await recover({ agent, ports, haltedAtMs: await haltMarker.read() })
await haltMarker.clear()

const worker = new NodeWorker({
  place: temporal,
  nodeId: settings.nodeId,
  activities: {
    ...createHostActivities({ agent }),
    ...createMoveActivities(agent),
    ...createVolumeActivities(agent),
  },
  log,
})
server.listen(settings.agentPort, settings.agentHost)
await Promise.all([once(server, 'listening'), meshEntrance?.listen()])
identity?.onChange((next) => {
  if (server instanceof SecureServer) server.setSecureContext(serverTls(next))
  worker.renew()
})
registration.keepTerm(term)
registration.start()
worker.start()
outbox.wake()
notReady = undefined
log.info({ port: settings.agentPort, accelerator: drivers.vmm.accelerator }, 'the agent takes work')

const lostBoots = new LostBoots({ agent, events: hostEvents.events, log, nowMs: Date.now })
const garbage = new GarbageSweep({ agent, ports, list: listInstances })
// The first sweep runs at once: it also reports lost boots, and a request for a lost instance should not
// have to wait for a later sweep.
void garbage.sweep().catch((error: unknown) => {
  log.warn({ err: error }, 'the instances of this host could not be listed yet')
})
const every = (intervalMs: number, name: string, task: () => Promise<unknown>) =>
  repeat({ name, intervalMs, task, log })
const tasks = [
  every(checkIntervalMs, 'checking VMs', async () => await agent.check()),
  every(checkIntervalMs, 'checking the mesh', async () => await mesh?.check()),
  every(sampleIntervalMs, 'sampling usage', async () => await meter.sampleAll()),
  every(historyIntervalMs, 'recording usage', async () => await history.sampleAll()),
  every(garbageIntervalMs, 'collecting garbage', async () => {
    await garbage.sweep()
    await serviceUsage.sweep()
  }),
  every(imageCollectIntervalMs, 'collecting images', async () => await drivers.images.collect()),
]

for (const [signal, end] of [
  ['SIGTERM', leave],
  ['SIGINT', halt],
] as const) {
  process.once(signal, () => {
    end().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'the agent could not end in order')
        process.exit(1)
      },
    )
  })
}

function agentNotReady(): string | undefined {
  return notReady ?? (worker.polls ? undefined : 'Temporal can not be reached')
}

/**
 * What the API is told of this host's place in the mesh. It has none before its network is assigned, and
 * while its own name can not be looked up.
 */
function meshTold(): Pick<NodeHeartbeat, 'mesh' | 'meshRevision'> {
  if (!isConnected || mesh?.own === undefined) return {}
  return { mesh: mesh.own, ...(mesh.revision !== undefined && { meshRevision: mesh.revision }) }
}

/** Reads the room for volumes, in MiB. If the disk can not be read now, it returns the last known value. */
async function volumeMb(): Promise<number> {
  try {
    knownVolumeMb = (await drivers.volumes.room()).totalMb
  } catch (error) {
    log.warn({ err: error }, 'the room for volumes could not be read')
  }
  return knownVolumeMb
}

/** Lists the instances that should be on this host, and reports the boots that this host has lost. */
async function listInstances(): Promise<NodeInstances> {
  const listed = await api.instances()
  serviceUsage.heard(listed.instances)
  await lostBoots.tell(listed.instances)
  return listed
}

/**
 * Only the agent ends: its VMs go on, and the next agent takes them over. What is under way is cut off as by
 * a crash, which the next agent mends in any case; only what it has to tell is sent first.
 */
async function leave(): Promise<void> {
  log.info({}, 'leaving; the virtual machines go on')
  registration.stop()
  const late = new Promise((resolve) => setTimeout(resolve, leaveLimitMs).unref())
  await Promise.race([Promise.all([outbox.close(), tracer?.close()]), late])
}

/** The platform halts: every VM ends, and the next agent reports how it ended. */
async function halt(): Promise<void> {
  log.info({}, 'halting')
  await haltMarker.set(Date.now())
  registration.stop()
  await term.close()
  await Promise.all([
    outbox.close(),
    agent.halt(),
    worker.stop(),
    ...tasks.map(async (task) => await task.stop()),
  ])
  meshEntrance?.close()
  leaseServer.close()
  execServer.close()
  server.close()
  server.closeAllConnections()
  await Promise.all([drivers.vmm.close(), drivers.close()])
  await dns?.close()
  await Promise.all([network.close(), mesh?.close(), tracer?.close()])
}
