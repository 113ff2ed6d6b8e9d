import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import {
  createHostActivities,
  createMoveActivities,
  createVolumeActivities,
} from '../../activities/host-activities.ts'
import {
  parseHeartbeat,
  parseHostReport,
  parseRegistryTokenRequest,
} from '../../src/api/internal/node-messages.ts'
import { parsePart, readMetro } from '../../src/api/internal/part-endpoints.ts'
import { readCountsRequest } from '../../src/api/internal/parts-beside.ts'
import { readJoin } from '../../src/api/remote/join.ts'
import { createNodeClient } from '../../src/control/host-client.ts'
import { createPartClient } from '../../src/control/part-client.ts'
import type { NodeRecord } from '../../src/db/host/hosts.ts'
import type { MeshMachine } from '../../src/domain/host/mesh.ts'
import type { HostReport } from '../../src/domain/host/api-protocol.ts'
import { execCommand } from '../../src/domain/instance/exec-protocol.ts'
import { PlatformPart } from '../../src/domain/platform-part.ts'
import type { wires } from '../../src/domain/protocols.ts'
import type { NameLine, RouteLine } from '../../src/domain/service/route-feed.ts'
import { hostMessage } from '../../src/gateway/hosts/host-messages.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { ApiClient } from '../../src/host/agent/api-client.ts'
import { requireFit } from '../../src/host/agent/instance-fetch.ts'
import type { FetchInput } from '../../src/host/agent/instance-fetch.ts'
import { PrivateNames } from '../../src/host/dns/private-names.ts'
import { FrameReader } from '../../src/host/exec/exec-frames.ts'
import { gatewayMessage } from '../../src/host/leases/gateway-messages.ts'
import { checkMachines } from '../../src/host/mesh/mesh-machine.ts'
import { TransferClient } from '../../src/host/moves/transfer-client.ts'
import { exitReportOf, parseVmEvents, startReportOf } from '../../src/host/vmm/vm-events.ts'
import type { VmRecord } from '../../src/host/vmm/vm-record.ts'
import {
  readApiAddresses,
  readControlSettings,
  readSharedSettings,
} from '../../src/launch/host/told-settings.ts'
import { HandOverMessage } from '../../src/launch/parts/hand-over-messages.ts'
import { readNews, readQuestion } from '../../src/launch/upgrade/upgrade-door.ts'
import { readHead } from '../../src/relay/call-head.ts'
import { GrpcStatus } from '../../src/relay/grpc-status.ts'
import { readJoinAnswer } from '../../src/trust/join-client.ts'
import type { JoinAnswer } from '../../src/trust/join-client.ts'
import type { Reader, Recording } from './recording.ts'
import { answersOf, startAgent } from './agent-server.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const secret = 'the-secret-of-the-agent'

/** Today's readers of what processes say to each other. */
export const wireReaders: { readonly [Name in keyof typeof wires]: Reader } = {
  hostCalls: ({ kind, message }) => byKind(hostCalls, kind)(message),
  hostAnswers: async ({ kind, message }) =>
    await served(message, async (apiUrl) => {
      const client = new ApiClient({ apiUrl, nodeId: 'h1', joinToken: 'x', agentSecret: secret })
      const read = await byKind(hostAnswers, kind)(client)
      await client.close()
      return read
    }),
  mesh({ message }) {
    checkMachines((message as { readonly machines: readonly MeshMachine[] }).machines)
    return message
  },
  join({ message }) {
    const { secret: shown, agent, keys } = readJoin(message)!
    return { secret: shown, key: agent.pem, roles: [...keys].flatMap(([role, key]) => (key ? [role] : [])) }
  },
  joinAnswer: ({ message }) => readJoinAnswer(message as JoinAnswer),
  toldSettings: ({ kind, message }) => byKind(toldSettings, kind)(message),
  routes({ message }) {
    const table = new RouteTable()
    for (const line of message as readonly RouteLine[]) table.apply(line)
    return [...table.lines()]
  },
  names({ message }) {
    const names = new PrivateNames()
    for (const line of message as readonly NameLine[]) names.apply(line)
    return { revision: names.revision, names: names.all() }
  },
  leases: ({ message }) => gatewayMessage(message as object),
  leaseAnswers: ({ message }) => hostMessage(message as object),
  agentCalls: async ({ kind, message }) => await heardByAgent(kind, message),
  agentAnswers: async ({ kind, message }) => await heardByApi(kind, message),
  exec: ({ message }) => execCommand(JSON.stringify(message)),
  relay({ message }) {
    const head = readHead(message as Readonly<Record<string, string>>)
    if (head instanceof GrpcStatus) return head
    const { path, limitMs, passed } = head
    return { path, limitMs, passed }
  },
  hostWork: async ({ kind, message }) => await doneByHost(kind, message),
  partCalls: ({ kind, message }) => byKind(partCalls, kind)(message),
  gatewayCounts: async ({ message }) =>
    await served(message, async (address) => {
      const place = { part: PlatformPart.Gateway, name: 'g', address } as const
      const client = createPartClient({ places: [place], gatewayToken: 'x' })
      const fail = (error: Error): never => {
        throw error
      }
      const [answer] = await client.readTraffic([uuid], fail)
      await client.close()
      return { run: answer?.run, traffic: answer?.traffic }
    }),
  moves: async ({ message }) =>
    await served(message, async (url) => {
      const from = { nodeId: 'h1', address: '127.0.0.1', port: Number(new URL(url).port) }
      const client = new TransferClient('127.0.0.1')
      const copy = await client.copyOf(from, uuid, AbortSignal.timeout(limitMs))
      const input: FetchInput = { instanceUuid: uuid, boot: 3, permit: 4, from }
      requireFit(copy, input)
      return copy
    }),
  handOver: ({ message }) => Object.values(HandOverMessage).find((one) => one === message),
  upgrade: ({ kind, message }) =>
    kind === 'question' ? readQuestion(message as object) : readNews(message as object),
  keeperEvents({ message }) {
    const events = parseVmEvents(String(message))
    return { started: startReportOf(vm, events), exit: exitReportOf(vm, events) }
  },
  guestExec({ message }) {
    const frames = new FrameReader().push(Buffer.from(String(message), 'hex'))
    return frames.map(({ type, session, payload }) => ({
      type,
      session,
      payload: payload.toString('latin1'),
    }))
  },
}

const limitMs = 10_000

const hostCalls = { heartbeat: parseHeartbeat, report: parseHostReport, token: parseRegistryTokenRequest }
const partCalls = { certificate: parsePart, metro: readMetro, counts: readCountsRequest }
const toldSettings = { shared: readSharedSettings, control: readControlSettings, apis: readApiAddresses }

const report = { kind: 'volume', uuid, event: { kind: 'made' } } as const satisfies HostReport
const hostAnswers = {
  assignment: async (client: ApiClient) =>
    await client.heartbeat({} as Parameters<ApiClient['heartbeat']>[0]),
  instances: async (client: ApiClient) => await client.instances(),
  launch: async (client: ApiClient) => await client.launchSpec(uuid, AbortSignal.timeout(limitMs)),
  report: async (client: ApiClient) => ({ taken: await client.tell(report) }),
  token: async (client: ApiClient) => ({ token: await client.registryToken('ann/app') }),
  certificate: async (client: ApiClient) => ({ certificate: await client.certificate() }),
}

const vm: VmRecord = {
  schemaVersion: 1,
  instanceUuid: uuid,
  boot: 3,
  guest: 'container',
  kind: 'boot',
  askedAtUs: 1_700_000_000_000_000,
  hostBootId: 'boot-1',
}

function byKind<Read>(readers: Readonly<Record<string, Read>>, kind: string): Read {
  const read = readers[kind]
  if (read === undefined) throw new Error(`nothing reads a message of the kind '${kind}'`)
  return read
}

/** What `ask` makes of an answer that a server gives to everything. */
async function served<Read>(message: unknown, ask: (url: string) => Promise<Read>): Promise<Read> {
  const server = createServer((request: IncomingMessage, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** What an agent understands of a call of the API. */
async function heardByAgent(kind: string, message: unknown): Promise<unknown> {
  const heard: unknown[] = []
  const agent = await startAgent(
    answersOf((what) => {
      heard.push(what)
    }),
  )
  const path = kind === 'check' ? `/instances/${uuid}/check` : `/${kind}`
  try {
    const answer = await fetch(`${agent.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.secret}` },
      body: JSON.stringify(message),
    })
    return answer.status === 200 ? heard[0] : await answer.text()
  } finally {
    agent.close()
  }
}

/** What the API understands of the answer of an agent. */
async function heardByApi(kind: string, message: unknown): Promise<unknown> {
  return await served(message, async (agentUrl) => {
    const node = { id: 'h1', agentUrl, agentSecret: secret, live: true } as unknown as NodeRecord
    const client = createNodeClient({ listNodes: async () => await Promise.resolve([node]), nowMs: Date.now })
    const instance = { uuid, nodeId: 'h1' }
    const asks: Readonly<Record<string, () => Promise<unknown>>> = {
      log: async () => await client.readLog(instance, { offset: 0, limit: 100 }),
      usage: async () => ({ usage: await client.readUsage('h1', [uuid]) }),
      history: async () => ({ steps: await client.readHistory(instance, '5s') }),
      loads: async () => await client.readLoads('h1', [uuid]),
      awake: async () => ({ awake: await client.readAwake('h1', [uuid]) }),
      lease: async () => await client.readLease(instance),
      begin: async () => ({ up: await client.beginFirstBoot(instance) }),
      check: async () => await client.checkInstance(instance, { port: 80, timeoutMs: 1_000 }),
    }
    const read = await byKind(asks, kind)()
    await client.close()
    return read
  })
}

/** What a host's work is called with when its activity gets this argument. */
async function doneByHost(kind: Recording['kind'], message: unknown): Promise<unknown> {
  let heard: unknown
  const hears = new Proxy(
    {},
    {
      get: () => async (input: unknown) => {
        heard ??= input
        await Promise.resolve()
      },
    },
  )
  const activities = {
    ...createHostActivities({ agent: hears as Parameters<typeof createHostActivities>[0]['agent'] }),
    ...createMoveActivities({ moves: hears as Parameters<typeof createMoveActivities>[0]['moves'] }),
    ...createVolumeActivities({ volumes: hears as Parameters<typeof createVolumeActivities>[0]['volumes'] }),
  }
  type Activity = (input: unknown) => Promise<unknown>
  const activity = byKind(activities as unknown as Readonly<Record<string, Activity>>, kind)
  const environment = new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') })
  await environment.run(activity, message)
  return heard
}
