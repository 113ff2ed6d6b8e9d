import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import type { WebSocket } from 'ws'
import type { AwakeInstances } from '../domain/instance/awake.ts'
import type { HostLoads, LogWindow, UsageByInstance } from '../domain/host/api-protocol.ts'
import { maxHostChecks } from '../domain/rollout/check.ts'
import type { CheckResult, InstanceCheck } from '../domain/rollout/check.ts'
import type { StepUsage, UsageStep } from '../domain/instance/usage-history.ts'
import type { HostLeaseView } from '../domain/standby/lease-protocol.ts'
import type { NodeRecord } from '../db/host/hosts.ts'
import { agentName } from '../domain/part-name.ts'
import { otherVersion, toldProtocol, wires } from '../domain/protocols.ts'
import { hostHeader, partConnector } from '../trust/part-connector.ts'
import type { PartIdentity } from '../trust/part-identity.ts'
import { connectExec } from './host-exec.ts'
import { refusalText } from '../primitives/refusal-text.ts'
import { traceparentNow } from '../primitives/traces.ts'

/**
 * The requests of the API and of autoscale to hosts, for data that no database has and that is needed at
 * once.
 */
export interface NodeClient {
  /**
   * A window of an instance's log. An instance that never started has an empty log. Throws
   * `NodeUnavailable`.
   */
  readLog(instance: PlacedInstance, window: LogRequest): Promise<LogWindow>
  /**
   * Resource use of the host's instances. Instances that the host does not know are left out. Throws
   * `NodeUnavailable`.
   */
  readUsage(nodeId: string, instanceUuids: readonly string[]): Promise<UsageByInstance>
  /** The history of an instance's usage, the oldest step first. Throws `NodeUnavailable`. */
  readHistory(instance: PlacedInstance, step: UsageStep): Promise<readonly StepUsage[]>
  /**
   * The history of what all instances of a service used on the host together, the oldest step first. Throws
   * `NodeUnavailable`.
   */
  readServiceHistory(nodeId: string, serviceUuid: string, step: UsageStep): Promise<readonly StepUsage[]>
  /**
   * The load counters of the host's instances, for autoscale. Instances that the host does not know are left
   * out. Throws `NodeUnavailable`.
   */
  readLoads(nodeId: string, instanceUuids: readonly string[]): Promise<HostLoads>
  /**
   * Which of the instances are awake, as their host says. Throws `NodeUnavailable`. It does so at once if
   * the host's heartbeats have stopped, so that reads do not wait for a lost host.
   */
  readAwake(nodeId: string, instanceUuids: readonly string[]): Promise<AwakeInstances>
  /** The metrics of the host's agent in the Prometheus text format. Throws `NodeUnavailable`. */
  readMetrics(nodeId: string): Promise<string>
  /**
   * The instance's lease as its host sees it. Undefined if the host does not know the instance, as before its
   * first start. A host whose heartbeats have stopped is asked all the same, because it may only be cut off
   * from the API. Throws `NodeUnavailable`.
   */
  readLease(instance: PlacedInstance): Promise<HostLeaseView | undefined>
  /**
   * Has the host begin the first boot of a new instance. Resolves with whether the instance is up, once its
   * start is over. The start goes on after the time limit. It is sent at once or never, and never again.
   * Throws `NodeUnavailable`.
   */
  beginFirstBoot(instance: PlacedInstance): Promise<boolean>
  /**
   * Has the host look once whether the application of an instance answers. A sleeping instance is woken.
   * Throws `NodeUnavailable`, also if the host makes too many checks now.
   */
  checkInstance(instance: PlacedInstance, check: InstanceCheck): Promise<CheckResult>
  /**
   * Connects to the host for one program in an instance (`src/domain/instance/exec-protocol.ts`). Throws
   * `NodeUnavailable`.
   */
  openExec(instance: PlacedInstance): Promise<WebSocket>
  close(): Promise<void>
}

export interface PlacedInstance {
  readonly uuid: string
  readonly nodeId: string
}

export interface LogRequest {
  /** Where the window begins. Negative: counted from the end. */
  readonly offset: number
  readonly limit: number
  /** Present: the host answers when the log goes on after `offset`, or after this time. */
  readonly wait?: { readonly ms: number; readonly signal: AbortSignal }
}

/** A host did not answer, or its answer was not sound. */
export class NodeUnavailable extends Error {
  override readonly name = 'NodeUnavailable'
}

/**
 * The time limit of a call. A host answers from memory and page cache. If it needs longer than this, readers
 * treat it as gone.
 */
const callTimeoutMs = 3_000
/**
 * The time limit of `readAwake` and `readLease`. It is shorter, because a host answers them from memory, and
 * because each read of a sleeping instance and each explanation asks a host.
 */
const memoryTimeoutMs = 1_000
/**
 * The time limit of `beginFirstBoot`. A boot takes about a second. If an image has to be pulled first, nobody
 * notices the few milliseconds that this call saves.
 */
const firstBootTimeoutMs = 20_000
/** The longest time until `beginFirstBoot` is sent. A later one might follow a command of the workflow. */
const firstBootDelayMs = 1_000
/**
 * The most first boots that one process may have under way. Each has a connection, so that none waits for
 * another.
 */
export const maxFirstBoots = 32
/** The most waits for logs at one host. There are no more streams in a process. */
const maxLogWaits = 1_000
const connectTimeoutMs = 1_000
/** The most connections to each host. Further calls wait. */
const maxConnections = 16
/**
 * The longest answer. It is enough for a log window in base64 and JSON, and for the usage of all instances
 * that a host can have.
 */
const maxAnswerBytes = 16_777_216
/**
 * How long an address is used before it is read again. A restarted agent may have another address or secret.
 * A call that is refused shows that at once, and the address is then read again.
 */
const addressTtlMs = 5_000

export function createNodeClient(options: {
  readonly listNodes: () => Promise<readonly NodeRecord[]>
  readonly nowMs: () => number
  /** What this part shows to hosts on other machines. Absent: there are none. */
  readonly identity?: () => PartIdentity | undefined
}): NodeClient {
  const { identity } = options
  const connectionsTo = (connections: number): Agent => agentFor(connections, identity)
  const agent = connectionsTo(maxConnections)
  // First boots, waits for logs and checks last long. They have connections of their own, so that no read
  // waits for them.
  const boots = connectionsTo(maxFirstBoots)
  const waits = connectionsTo(maxLogWaits)
  const checks = connectionsTo(maxHostChecks)
  const addresses = createAddressBook(options)

  const call = callsTo(addresses, agent)

  return {
    readLog: (instance, window) => readLog({ call, waits }, instance, window),
    async readUsage(nodeId, instances) {
      const answer = await call(nodeId, '/usage', { method: 'POST', body: { instances } })
      return (expectJson(answer, nodeId) as { usage: UsageByInstance }).usage
    },
    readHistory: ({ uuid, nodeId }, step) => readSteps(call, nodeId, `/instances/${uuid}/usage?step=${step}`),
    readServiceHistory: (nodeId, uuid, step) =>
      readSteps(call, nodeId, `/services/${uuid}/usage?step=${step}`),
    async readLoads(nodeId, instances) {
      const answer = await call(nodeId, '/loads', { method: 'POST', body: { instances } })
      return expectJson(answer, nodeId) as HostLoads
    },
    async readAwake(nodeId, instances) {
      if (!(await addresses.find(nodeId)).live) throw new NodeUnavailable(`node '${nodeId}' is silent`)
      const init = { method: 'POST', body: { instances }, timeoutMs: memoryTimeoutMs } as const
      const answer = await call(nodeId, '/awake', init)
      return (expectJson(answer, nodeId) as { awake: AwakeInstances }).awake
    },
    async readMetrics(nodeId) {
      return expectOk(await call(nodeId, '/metrics', { method: 'GET' }), nodeId).text
    },
    async readLease({ uuid, nodeId }) {
      const init = { method: 'GET', timeoutMs: memoryTimeoutMs } as const
      const answer = await call(nodeId, `/instances/${uuid}/host-lease`, init)
      if (answer.statusCode === 404) return undefined
      return expectJson(answer, nodeId) as HostLeaseView
    },
    async beginFirstBoot({ uuid, nodeId }) {
      const askedAtMs = options.nowMs()
      // An address of any age will do: if it is wrong, the workflow's call begins the boot.
      const node = await addresses.find(nodeId, Number.POSITIVE_INFINITY)
      if (options.nowMs() - askedAtMs > firstBootDelayMs)
        throw new NodeUnavailable('the address came too late')
      const init = { method: 'POST', timeoutMs: firstBootTimeoutMs } as const
      try {
        const answer = await send(boots, node, `/instances/${uuid}/begin`, init)
        return (expectJson(answer, nodeId) as { up: boolean }).up
      } catch (error) {
        addresses.forget()
        throw error instanceof NodeUnavailable ? error : unanswered(nodeId, error)
      }
    },
    checkInstance: (instance, check) => checkInstance({ call, checks }, instance, check),
    openExec: (instance) => openExec(addresses, instance, identity?.()),
    async close() {
      await Promise.all([agent.close(), boots.destroy(), waits.destroy(), checks.destroy()])
    },
  }
}

async function readLog(
  { call, waits }: { readonly call: ReturnType<typeof callsTo>; readonly waits: Dispatcher },
  { uuid, nodeId }: PlacedInstance,
  { offset, limit, wait }: LogRequest,
): Promise<LogWindow> {
  const window = `/instances/${uuid}/log?offset=${offset}&limit=${limit}`
  const answer =
    wait === undefined
      ? await call(nodeId, window, { method: 'GET' })
      : await call(nodeId, `${window}&wait=${wait.ms}`, {
          method: 'GET',
          timeoutMs: wait.ms + callTimeoutMs,
          dispatcher: waits,
          signal: wait.signal,
        })
  if (answer.statusCode === 404) return emptyLog
  return expectJson(answer, nodeId) as LogWindow
}

async function checkInstance(
  { call, checks }: { readonly call: ReturnType<typeof callsTo>; readonly checks: Dispatcher },
  { uuid, nodeId }: PlacedInstance,
  check: InstanceCheck,
): Promise<CheckResult> {
  const answer = await call(nodeId, `/instances/${uuid}/check`, {
    method: 'POST',
    body: check,
    // The host takes up to twice the time of the check: for the instance to come up, and for the look.
    timeoutMs: 2 * check.timeoutMs + callTimeoutMs,
    dispatcher: checks,
  })
  return expectJson(answer, nodeId) as CheckResult
}

async function readSteps(
  call: ReturnType<typeof callsTo>,
  nodeId: string,
  path: string,
): Promise<readonly StepUsage[]> {
  const answer = await call(nodeId, path, { method: 'GET' })
  return (expectJson(answer, nodeId) as { steps: readonly StepUsage[] }).steps
}

async function openExec(
  addresses: ReturnType<typeof createAddressBook>,
  { uuid, nodeId }: PlacedInstance,
  identity: PartIdentity | undefined,
): Promise<WebSocket> {
  try {
    return await connectExec(await addresses.find(nodeId), uuid, identity)
  } catch (error) {
    if (error instanceof NodeUnavailable) throw error
    // The agent may have been restarted on another port or with another secret.
    addresses.forget()
  }
  try {
    return await connectExec(await addresses.find(nodeId), uuid, identity)
  } catch (error) {
    throw error instanceof NodeUnavailable ? error : unanswered(nodeId, error)
  }
}

/**
 * Calls that are sent again to the new address or with the new secret if the agent was restarted. They
 * go over the connections of `agent` unless they name others.
 */
function callsTo(addresses: ReturnType<typeof createAddressBook>, agent: Dispatcher) {
  return async (
    nodeId: string,
    path: string,
    { dispatcher = agent, ...init }: NodeRequest & { readonly dispatcher?: Dispatcher },
  ): Promise<NodeAnswer> => {
    try {
      const answer = await send(dispatcher, await addresses.find(nodeId), path, init)
      if (answer.statusCode !== 401) return answer
    } catch (error) {
      if (error instanceof NodeUnavailable) throw error
      // A call to the old port or with the old secret of a restarted agent is refused at once. This call got
      // no answer in time, so another try would get none either.
      if (isTimeout(error) || init.signal?.aborted === true) throw unanswered(nodeId, error)
    }
    // The agent may have been restarted on another port or with another secret.
    addresses.forget()
    try {
      return await send(dispatcher, await addresses.find(nodeId), path, init)
    } catch (error) {
      if (error instanceof NodeUnavailable) throw error
      throw unanswered(nodeId, error)
    }
  }
}

function agentFor(connections: number, identity: (() => PartIdentity | undefined) | undefined): Agent {
  return new Agent({
    connections,
    connect: partConnector(() => identity?.(), { timeout: connectTimeoutMs }),
    // Each call has one time limit for all of it, see `send`.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxAnswerBytes,
  })
}

function unanswered(nodeId: string, cause: unknown): NodeUnavailable {
  return new NodeUnavailable(`node '${nodeId}' does not answer`, { cause })
}

/** Whether the call took longer than its time limit. */
function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

const emptyLog: LogWindow = {
  availableStart: 0,
  availableEnd: 0,
  rangeStart: 0,
  rangeEnd: 0,
  outputBase64: '',
}

interface NodeRequest {
  readonly method: 'GET' | 'POST'
  readonly body?: unknown
  /** Absent: `callTimeoutMs`. */
  readonly timeoutMs?: number
  /** Ends the call before its time. */
  readonly signal?: AbortSignal
}

interface NodeAnswer {
  readonly statusCode: number
  readonly text: string
}

async function send(
  dispatcher: Dispatcher,
  node: NodeRecord,
  path: string,
  init: NodeRequest,
): Promise<NodeAnswer> {
  const place = traceparentNow()
  const url = new URL(path, node.agentUrl)
  const response = await request(url, {
    dispatcher,
    method: init.method,
    headers: {
      authorization: `Bearer ${node.agentSecret}`,
      'content-type': 'application/json',
      ...toldProtocol(wires.agentCalls),
      ...hostHeader(url, agentName(node.id)),
      ...(place === undefined ? {} : { traceparent: place }),
    },
    signal: signalOf(init),
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  })
  return { statusCode: response.statusCode, text: await response.body.text() }
}

function signalOf({ timeoutMs = callTimeoutMs, signal }: NodeRequest): AbortSignal {
  const limit = AbortSignal.timeout(timeoutMs)
  return signal === undefined ? limit : AbortSignal.any([limit, signal])
}

function expectOk(answer: NodeAnswer, nodeId: string): NodeAnswer {
  if (answer.statusCode === 200) return answer
  const refusal = answer.statusCode === otherVersion ? refusalText(answer.text) : undefined
  throw new NodeUnavailable(refusal ?? `node '${nodeId}' answered ${answer.statusCode}`)
}

function expectJson(answer: NodeAnswer, nodeId: string): unknown {
  return JSON.parse(expectOk(answer, nodeId).text)
}

/** The addresses of the hosts. They are read again when they are old or turned out wrong. */
function createAddressBook(options: {
  readonly listNodes: () => Promise<readonly NodeRecord[]>
  readonly nowMs: () => number
}) {
  let known: readonly NodeRecord[] = []
  let readAtMs = Number.NEGATIVE_INFINITY
  return {
    async find(nodeId: string, maxAgeMs = addressTtlMs): Promise<NodeRecord> {
      const ageMs = options.nowMs() - readAtMs
      if (ageMs > maxAgeMs || (ageMs > addressTtlMs && !known.some(({ id }) => id === nodeId))) {
        known = await options.listNodes()
        readAtMs = options.nowMs()
      }
      const node = known.find((each) => each.id === nodeId)
      if (node === undefined) throw new NodeUnavailable(`node '${nodeId}' is not known`)
      return node
    },
    forget() {
      known = []
      readAtMs = Number.NEGATIVE_INFINITY
    },
  }
}
