import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { Agent, request } from 'undici'
import { createApiMetrics } from '../../src/api/api-metrics.ts'
import { createApp } from '../../src/api/app.ts'
import type { ApiDeps, ApiSettings } from '../../src/api/deps.ts'
import type { NodeClient } from '../../src/control/host-client.ts'
import type { PartClient } from '../../src/control/part-client.ts'
import type { RegistryTokens } from '../../src/api/image/registry-tokens.ts'
import { closeServer, createApiServer } from '../../src/api/server.ts'
import { handlingTimeoutMs } from '../../src/contract/limits.ts'
import { openDatabase } from '../../src/db/database.ts'
import type { Database } from '../../src/db/database.ts'
import { openInstanceWatch } from '../../src/db/instance/watch.ts'
import { createTokenAuthenticator } from '../../src/db/account/authenticator.ts'
import { createSessions } from '../../src/db/account/sessions.ts'
import { createToken } from '../../src/db/account/tokens.ts'
import type { NewUser, UserRecord } from '../../src/db/account/users.ts'
import type { AwakeInstance } from '../../src/domain/instance/awake.ts'
import type { LogWindow } from '../../src/domain/host/api-protocol.ts'
import type { HostLeaseView } from '../../src/domain/standby/lease-protocol.ts'
import { parseImageReference, publicImageReference } from '../../src/domain/image/reference.ts'
import type { StepUsage } from '../../src/domain/instance/usage-history.ts'
import type { Usage } from '../../src/domain/instance/usage.ts'
import { mayRead } from '../../src/registry/image-resolver.ts'
import { addNode, addUser, testSecretBox } from './accounts.ts'
import { createApiClient } from './api-client.ts'
import type { ApiClient } from './api-client.ts'
import { createFakeControls } from './fake-controls.ts'
import type { FakeControls } from './fake-controls.ts'
import { createTestDatabase } from './postgres.ts'

/**
 * The API as a server on loopback, with a database of its own. Its ports are fakes, except for those that
 * `startTestApi` is given.
 */
export interface TestApi extends FakeControls {
  readonly url: string
  readonly database: Database
  readonly nodes: FakeNodes
  readonly images: FakeImages
  readonly stopping: AbortController
  /** Every line that was logged, as JSON. */
  readonly logLines: readonly string[]
  /** Answers a request that came over another server. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  addUser(user?: Partial<NewUser> & { readonly developer?: boolean }): Promise<TestUser>
  send(call: RawCall): Promise<RawAnswer>
  close(): Promise<void>
}

export interface TestUser extends UserRecord {
  readonly token: string
  readonly api: ApiClient
}

export interface RawCall {
  readonly method?: string
  readonly path: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A string is sent as it is, any other value as JSON. */
  readonly body?: unknown
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly json: any
}

export interface FakeNodes extends NodeClient {
  readonly logs: Map<string, LogWindow>
  /** By the UUID of an instance, or by `<host> <UUID of a service>`. */
  readonly histories: Map<string, readonly StepUsage[]>
  readonly usage: Map<string, Usage>
  /** The instances that are awake on the hosts. */
  readonly awake: Map<string, AwakeInstance>
  /** The leases as the hosts see them. */
  readonly leases: Map<string, HostLeaseView>
  readonly calls: string[]
  /** Hosts bring first boots up at once, with this time until the kernel has booted. */
  firstBootUs?: number
  /** Until it resolves, no first boot is over. */
  holdsFirstBoots?: Promise<void>
  fails?: Error
}

export interface FakeImages {
  /** References as the registry has them, such as `official/hello:latest`. */
  readonly references: Map<string, FakeImage>
  fails?: Error
}

export interface FakeImage {
  readonly args?: string
  /** Default false. */
  readonly hasEntrypoint?: boolean
  readonly labels?: Readonly<Record<string, string>>
}

/** The controls that a test brings itself. */
function replaced(
  options: Partial<Pick<ApiDeps, keyof FakeControls>>,
  controls: FakeControls,
): Partial<Pick<ApiDeps, keyof FakeControls>> {
  const names = Object.keys(controls) as (keyof FakeControls)[]
  return Object.fromEntries(names.flatMap((name) => (options[name] ? [[name, options[name]]] : [])))
}

export const testMetroDomain = 'metro.test'

export const testGatewayToken = 'the-gateway-token-of-the-tests'
export const fakeDigest = `sha256:${'ab'.repeat(32)}`

export async function startTestApi(
  options: { readonly settings?: Partial<ApiSettings> } & Partial<
    Pick<
      ApiDeps,
      keyof FakeControls | 'nowMs' | 'domainProofs' | 'consoleFiles' | 'parts' | 'authority' | 'hostReports'
    >
  > & {
      readonly registry?: (database: Database) => RegistryTokens
    } = {},
): Promise<TestApi> {
  const own = await createTestDatabase()
  const database = await openDatabase({ url: own.url, applicationName: 'api test' })
  await addNode(database)
  const watch = await openInstanceWatch(database)
  const controls = createFakeControls(database)
  const nodes = createFakeNodes()
  const images: FakeImages = {
    references: new Map([['official/hello:latest', { args: '/hello --port 8080' }]]),
  }
  const logLines: string[] = []
  const stopping = new AbortController()
  const app = createApp({
    database,
    secretBox: testSecretBox,
    tokens: createTokenAuthenticator(database),
    sessions: createSessions(database, options.nowMs),
    ...(options.consoleFiles && { consoleFiles: options.consoleFiles }),
    watch,
    ...controls,
    ...replaced(options, controls),
    nodes,
    authority: options.authority,
    hostReports: options.hostReports ?? { tell: async () => true },
    parts: options.parts ?? noParts,
    ...imagePorts(images),
    registry: options.registry?.(database) ?? {
      answer: async () => ({ status: 401, message: 'not here' }),
      pullToken: async (repository) => `token for ${repository}`,
    },
    metrics: createApiMetrics(),
    log: collectingLog(logLines),
    nowMs: options.nowMs ?? Date.now,
    ...(options.domainProofs && { domainProofs: options.domainProofs }),
    stopping: stopping.signal,
    settings: {
      rate: { perSecond: 10_000, burst: 100_000 },
      changesPerMinute: 1_000_000,
      joinToken: 'the-join-token-of-the-tests',
      gatewayToken: testGatewayToken,
      firstSubnet: '10.64.0.0/20',
      handlingTimeoutMs,
      // A fake volume is made at once or never, so a longer wait would change nothing.
      makingVolumesMs: 20,
      metroDomain: testMetroDomain,
      registryUrl: `https://registry.${testMetroDomain}`,
      registryBounded: false,
      publicPorts: { offset: 0, withheld: new Set() },
      ...options.settings,
    },
  })
  const handle = app.callback()
  const server = createApiServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: ApiClient[] = []
  const dispatcher = new Agent()
  let users = 0
  return {
    url,
    database,
    ...controls,
    nodes,
    images,
    stopping,
    logLines,
    handle,
    async addUser({ developer = false, ...wanted } = {}) {
      const user = await addUser(database, { name: `user-${users++}`, ...wanted })
      const { token } = await createToken(database, { userUuid: user.uuid, developer })
      const api = createApiClient({ url, token })
      clients.push(api)
      return { ...user, token, api }
    },
    send: (call) => send(dispatcher, url, call),
    async close() {
      await Promise.all([dispatcher.close(), ...clients.map((client) => client.close())])
      await closeTestServer(server)
      await watch.close()
      await database.close()
      await own.drop()
    },
  }
}

const noParts: PartClient = {
  places: async () => [],
  readMetrics: async () => await Promise.reject(new Error('there are no parts')),
  readTraffic: async () => [],
  placesHere: [],
  readTrafficHere: async () => [],
  async close() {},
}

async function closeTestServer(server: Server): Promise<void> {
  await closeServer(server, 0)
  assert.ok(!server.listening)
}

function collectingLog(lines: string[]): Logger {
  return pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
}

function createFakeNodes(): FakeNodes {
  const logs = new Map<string, LogWindow>()
  const histories = new Map<string, readonly StepUsage[]>()
  const usage = new Map<string, Usage>()
  const awake = new Map<string, AwakeInstance>()
  const leases = new Map<string, HostLeaseView>()
  const calls: string[] = []
  const nodes: FakeNodes = {
    logs,
    histories,
    usage,
    awake,
    leases,
    calls,
    async readLog({ uuid }, { offset, limit }) {
      calls.push(`log ${offset} ${limit}`)
      if (nodes.fails) throw nodes.fails
      const empty = { availableStart: 0, availableEnd: 0, rangeStart: 0, rangeEnd: 0, outputBase64: '' }
      return logs.get(uuid) ?? empty
    },
    async readUsage(_node, uuids) {
      calls.push(`usage of ${uuids.length}`)
      if (nodes.fails) throw nodes.fails
      return Object.fromEntries(uuids.flatMap((uuid) => (usage.has(uuid) ? [[uuid, usage.get(uuid)!]] : [])))
    },
    async readHistory({ uuid }, step) {
      calls.push(`history by ${step}`)
      if (nodes.fails) throw nodes.fails
      return histories.get(uuid) ?? []
    },
    async readServiceHistory(node, uuid, step) {
      calls.push(`history of a service on ${node} by ${step}`)
      if (nodes.fails) throw nodes.fails
      return histories.get(`${node} ${uuid}`) ?? []
    },
    async readAwake(_node, uuids) {
      calls.push(`awake of ${uuids.length}`)
      if (nodes.fails) throw nodes.fails
      return Object.fromEntries(uuids.flatMap((uuid) => (awake.has(uuid) ? [[uuid, awake.get(uuid)!]] : [])))
    },
    async readLease({ uuid, nodeId }) {
      calls.push(`lease on ${nodeId}`)
      if (nodes.fails) throw nodes.fails
      return leases.get(uuid)
    },
    async beginFirstBoot({ uuid }) {
      calls.push('first boot')
      if (nodes.fails) throw nodes.fails
      await nodes.holdsFirstBoots
      const { firstBootUs: bootTimeUs } = nodes
      if (bootTimeUs === undefined) return false
      const times = {
        startedAtMs: Date.now(),
        bootTimeUs,
        vmmStartTimeUs: 1,
        vmmLoadTimeUs: 2,
        vmmReadyTimeUs: 3,
      }
      awake.set(uuid, { boot: 1, state: 'running', started: { boot: 1, kind: 'boot', ...times } })
      return true
    },
    readMetrics: async (node) => {
      if (nodes.fails) throw nodes.fails
      return `agent_of{host="${node}"} 1\n`
    },
    readLoads: async () => await Promise.reject(new Error('the API asks for no loads')),
    checkInstance: async () => await Promise.reject(new Error('the API asks for no checks')),
    async openExec({ nodeId }) {
      calls.push(`exec on ${nodeId}`)
      return await Promise.reject(nodes.fails ?? new Error('there is no host that runs programs'))
    },
    async close() {},
  }
  return nodes
}

function imagePorts(images: FakeImages): Pick<ApiDeps, 'images' | 'imageListing'> {
  const facts = (image: FakeImage) => ({
    sizeBytes: 1_000_000,
    hasInitrd: false,
    hasEntrypoint: image.hasEntrypoint ?? false,
    labels: image.labels ?? {},
    ...(image.args === undefined ? {} : { args: image.args }),
  })
  return {
    images: {
      async resolve(userName, text) {
        if (images.fails) throw images.fails
        const reference = parseImageReference(text)
        if (reference === undefined || !mayRead(userName, reference.repository)) return { kind: 'unknown' }
        const image = images.references.get(`${reference.repository}:${reference.tag ?? 'latest'}`)
        if (image === undefined) return { kind: 'unknown' }
        const pinned = { repository: reference.repository, digest: fakeDigest }
        return {
          kind: 'found',
          reference: `${pinned.repository}@${fakeDigest}`,
          publicReference: publicImageReference(pinned),
          facts: facts(image),
        }
      },
    },
    imageListing: {
      async list({ userName, lookups }) {
        if (images.fails) throw images.fails
        const listed = [...images.references].flatMap(([text, image]) => {
          const reference = parseImageReference(text)!
          if (!mayRead(userName, reference.repository)) return []
          const tag = publicImageReference(reference)
          if (lookups !== undefined && !lookups.some((lookup) => lookup.tag === tag)) return []
          const digest = publicImageReference({ repository: reference.repository, digest: fakeDigest })
          return [{ ...facts(image), digest, tags: [tag] }]
        })
        return listed.toSorted((a, b) => (a.digest < b.digest ? -1 : 1))
      },
    },
  }
}

async function send(dispatcher: Agent, url: string, call: RawCall): Promise<RawAnswer> {
  const body =
    typeof call.body === 'string' || call.body === undefined ? call.body : JSON.stringify(call.body)
  const response = await request(new URL(call.path, url), {
    dispatcher,
    method: (call.method ?? 'GET') as 'GET',
    headers: {
      ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = isStream(response.headers) ? await firstPiece(response.body) : await response.body.text()
  const isJson = text !== '' && String(response.headers['content-type'] ?? '').includes('json')
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  }
}

function isStream(headers: RawAnswer['headers']): boolean {
  return String(headers['content-type'] ?? '').startsWith('text/event-stream')
}

/** What comes first of an answer that does not end by itself. The connection is closed then. */
async function firstPiece(body: AsyncIterable<Buffer>): Promise<string> {
  for await (const piece of body) return piece.toString('utf8')
  return ''
}
