import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { AwakeInstances } from '../../domain/instance/awake.ts'
import { otherVersion, protocolHeader, versionRefusal, wires } from '../../domain/protocols.ts'
import { maxLogWaitMs } from '../../domain/host/api-protocol.ts'
import type { HostLoads, LogWindow, UsageByInstance } from '../../domain/host/api-protocol.ts'
import { instanceCheck, maxHostChecks } from '../../domain/rollout/check.ts'
import type { CheckResult, InstanceCheck } from '../../domain/rollout/check.ts'
import { usageSteps } from '../../domain/instance/usage-history.ts'
import type { StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'
import type { HostLeaseView } from '../../domain/standby/lease-protocol.ts'
import { bearsSecret } from '../../primitives/bearer-secret.ts'
import { atPlace, soundTraceparent } from '../../primitives/traces.ts'
import type { LogRequest } from '../console/console-waits.ts'
import { serverTls } from '../../trust/part-identity.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { isCaller } from './agent-callers.ts'
import type { AgentLog } from './agent-ports.ts'

/** The answers to what the API asks of a host, and to what anyone may ask: health and metrics. */
export interface AgentAnswers {
  /** With `waitMs`, the answer comes when the log goes on after `offset`, or when that time is over. */
  log(instanceUuid: string, request: LogRequest): Promise<LogWindow>
  /** The steps of which something is known, the oldest first. */
  history(instanceUuid: string, step: UsageStep): Promise<readonly StepUsage[]>
  /** The same for all instances of a service together. */
  serviceHistory(serviceUuid: string, step: UsageStep): Promise<readonly StepUsage[]>
  usage(instanceUuids: readonly string[]): Promise<UsageByInstance>
  loads(instanceUuids: readonly string[]): Promise<HostLoads>
  awake(instanceUuids: readonly string[]): AwakeInstances
  /** Begins the first boot of a new instance. Resolves with whether the instance is up. */
  begin(instanceUuid: string): Promise<boolean>
  /**
   * Returns undefined if the host makes as many checks as it may. `gone` aborts when nobody waits for the
   * result any more.
   */
  check(instanceUuid: string, check: InstanceCheck, gone: AbortSignal): Promise<CheckResult | undefined>
  /** Returns undefined if the host does not know the instance. */
  hostLease(instanceUuid: string): HostLeaseView | undefined
  /** Returns why the agent accepts no work yet, or undefined once it accepts work. */
  notReady(): string | undefined
  metrics(): Promise<string>
}

/**
 * The most bytes of a request's body. It has room for one UUID for each of a host's addresses: 65 534 of 39
 * bytes.
 */
const bodyMaxBytes = 3 * 1024 * 1024
const requestTimeoutMs = 10_000
const instancePattern =
  /^\/instances\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(log|usage|host-lease|begin|check)$/

const servicePattern = /^\/services\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/usage$/

/** A refused request. The message is sent to the client. */
class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The host's HTTP server, as in `src/domain/host/api-protocol.ts`. It does not listen yet. */
export function createAgentServer(options: {
  readonly agentSecret: string
  readonly answers: AgentAnswers
  readonly log: AgentLog
  /** Takes over the connections of upgrade requests, which go on with another protocol than HTTP. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** What a host that joined shows. Absent: all parts are on this machine. */
  readonly identity?: PartIdentity
}): Server {
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(options, request, response).catch((error: unknown) => {
      const status = error instanceof Refusal ? error.status : 500
      if (status === 500) options.log.error({ err: error, url: request.url }, 'a request failed')
      if (response.headersSent) response.destroy()
      else
        send(response, status, {
          message: error instanceof Refusal ? error.message : 'the agent failed; see its log',
        })
    })
  }
  const { identity } = options
  const server = identity ? createSecureServer(serverTls(identity), listener) : createServer(listener)
  server.requestTimeout = requestTimeoutMs
  server.on('upgrade', options.upgrade)
  return server
}

async function answer(
  options: { readonly agentSecret: string; readonly answers: AgentAnswers },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { answers } = options
  const url = new URL(request.url ?? '/', 'http://agent')
  const route = `${request.method ?? ''} ${url.pathname}`
  if (route === 'GET /healthz') {
    send(response, 200, { status: 'ok' })
  } else if (route === 'GET /readyz') {
    const reason = answers.notReady()
    send(
      response,
      reason === undefined ? 200 : 503,
      reason === undefined ? { status: 'ok' } : { message: reason },
    )
  } else if (route === 'GET /metrics') {
    requireCaller(request, 'metrics')
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(await answers.metrics())
  } else {
    requireCaller(request, 'calls')
    requireSecret(request, options.agentSecret)
    requireVersion(request)
    const place = soundTraceparent(request.headers['traceparent'])
    send(
      response,
      200,
      await atPlace(place, async () => await answerApi(answers, { request, response }, url)),
    )
  }
}

async function answerApi(
  answers: AgentAnswers,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  url: URL,
): Promise<object> {
  const [, instanceUuid, subject] = instancePattern.exec(url.pathname) ?? []
  if (request.method === 'GET' && instanceUuid !== undefined && subject === 'host-lease') {
    const hostLease = answers.hostLease(instanceUuid)
    if (hostLease !== undefined) return hostLease
    throw new Refusal(404, `the host does not know instance ${instanceUuid}`)
  }
  if (request.method === 'POST' && instanceUuid !== undefined && subject === 'begin') {
    return { up: await answers.begin(instanceUuid) }
  }
  if (request.method === 'POST' && instanceUuid !== undefined && subject === 'check') {
    return await makeCheck(answers, instanceUuid, { request, response })
  }
  if (request.method === 'GET' && instanceUuid !== undefined && subject === 'log') {
    return await answers.log(instanceUuid, {
      offset: wholeNumber(url, 'offset', Number.MIN_SAFE_INTEGER),
      limit: wholeNumber(url, 'limit', 0),
      ...(url.searchParams.has('wait') && {
        waitMs: Math.min(wholeNumber(url, 'wait', 0), maxLogWaitMs),
        gone: goneSignal(response),
      }),
    })
  }
  if (request.method === 'GET' && instanceUuid !== undefined && subject === 'usage') {
    return { steps: await answers.history(instanceUuid, stepIn(url)) }
  }
  const [, serviceUuid] = servicePattern.exec(url.pathname) ?? []
  if (request.method === 'GET' && serviceUuid !== undefined) {
    return { steps: await answers.serviceHistory(serviceUuid, stepIn(url)) }
  }
  if (request.method === 'POST' && url.pathname === '/usage') {
    return { usage: await answers.usage(uuidsOf(await readJson(request))) }
  }
  if (request.method === 'POST' && url.pathname === '/loads') {
    return await answers.loads(uuidsOf(await readJson(request)))
  }
  if (request.method === 'POST' && url.pathname === '/awake') {
    return { awake: answers.awake(uuidsOf(await readJson(request))) }
  }
  throw new Refusal(404, `there is no ${request.method ?? ''} ${url.pathname}`)
}

async function makeCheck(
  answers: AgentAnswers,
  instanceUuid: string,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<CheckResult> {
  const check = instanceCheck(await readJson(request))
  if (typeof check === 'string') throw new Refusal(400, check)
  const result = await answers.check(instanceUuid, check, goneSignal(response))
  if (result !== undefined) return result
  throw new Refusal(503, `the host makes ${String(maxHostChecks)} checks, and no more at a time; try again`)
}

function requireCaller(request: IncomingMessage, what: Parameters<typeof isCaller>[1]): void {
  if (!isCaller(request, what))
    throw new Refusal(403, 'the certificate is not that of a part that may ask for this')
}

function requireSecret(request: IncomingMessage, secret: string): void {
  if (!bearsSecret(request.headers.authorization, secret))
    throw new Refusal(401, "the agent's secret is needed")
}

function requireVersion({ headers }: IncomingMessage): void {
  const told = headers[protocolHeader]?.toString()
  const refusal = versionRefusal(wires.agentCalls, told, { peer: 'the caller', own: 'the agent of the host' })
  if (refusal !== undefined) throw new Refusal(otherVersion, refusal)
}

/** Aborts when the client is gone, so that nothing waits for a reader that is not there any more. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

function stepIn(url: URL): UsageStep {
  const step = url.searchParams.get('step') ?? ''
  if (Object.hasOwn(usageSteps, step)) return step as UsageStep
  throw new Refusal(400, `'step' must be one of ${Object.keys(usageSteps).join(', ')}, but is '${step}'`)
}

function wholeNumber(url: URL, name: string, least: number): number {
  const text = url.searchParams.get(name)
  const value = Number(text)
  if (text === null || text === '' || !Number.isSafeInteger(value) || value < least) {
    throw new Refusal(
      400,
      `'${name}' must be a whole number of at least ${String(least)}, not '${text ?? ''}'`,
    )
  }
  return value
}

function uuidsOf(body: unknown): readonly string[] {
  const { instances } = (body ?? {}) as { instances?: unknown }
  if (!Array.isArray(instances) || !instances.every((uuid) => typeof uuid === 'string')) {
    throw new Refusal(400, 'the body must be { instances: [uuid, ...] }')
  }
  return instances
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bodyMaxBytes) throw new Refusal(413, `a body has at most ${String(bodyMaxBytes)} bytes`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new Refusal(400, 'the body is not JSON')
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
