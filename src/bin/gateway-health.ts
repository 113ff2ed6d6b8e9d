import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import { Registry } from 'prom-client'
import { PlatformPart } from '../domain/platform-part.ts'
import { maxServicesAsked } from '../domain/service/service-traffic.ts'
import type { TrafficAnswer } from '../domain/service/service-traffic.ts'
import { bearsSecret } from '../primitives/bearer-secret.ts'
import { peerOf, serverTls } from '../trust/part-identity.ts'
import type { PartIdentity } from '../trust/part-identity.ts'

export interface GatewayHealth {
  /** The metrics of all processes, in the Prometheus format. */
  readonly metrics: () => Promise<string>
  /** Why the gateway can serve nothing yet. It is undefined once it can serve. */
  readonly notReady: () => string | undefined
  /** The counts of services, for APIs and workers. */
  readonly trafficOf: (serviceUuids: readonly string[]) => TrafficAnswer['traffic']
  /** The token that opens the counts, beside the API. */
  readonly token?: string | undefined
  /**
   * What the gateway of a machine that joined shows. It listens with TLS then, and certificates say who may
   * read metrics and counts.
   */
  readonly identity?: PartIdentity | undefined
}

/** The counts of this process begin at zero, and its name tells so. */
const run = randomUUID()
/** A UUID with its quotes and comma in JSON. */
const bytesPerUuid = 39
const bodyMaxBytes = maxServicesAsked * bytesPerUuid + 1_024

/** The parts that may read metrics and counts where certificates say who asks. */
const readers: ReadonlySet<PlatformPart | undefined> = new Set([PlatformPart.Api, PlatformPart.Worker])

/**
 * Answers `/healthz` and `/readyz` to everybody, and `/services` to APIs and workers. `/metrics` is for
 * everybody beside the API, and else for these parts too.
 */
export function createHealthServer(health: GatewayHealth): Server {
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, health).then(
      ({ status, type = 'text/plain', body }) =>
        response.writeHead(status, { 'Content-Type': type }).end(body),
      () => response.destroy(),
    )
  }
  const { identity } = health
  return identity === undefined ? createServer(listener) : createSecureServer(serverTls(identity), listener)
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}

async function answer(request: IncomingMessage, health: GatewayHealth): Promise<Answer> {
  const { url = '/' } = request
  const isReader = request.socket instanceof TLSSocket && readers.has(peerOf(request.socket)?.part)
  if (health.identity !== undefined && !isReader && url !== '/healthz' && url !== '/readyz')
    return { status: 403, body: 'only APIs and workers may ask for this\n' }
  if (url === '/metrics')
    return { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: await health.metrics() }
  if (url === '/healthz') return { status: 200, body: 'ok\n' }
  if (url === '/services' && request.method === 'POST') return await answerServices(request, health)
  if (url !== '/readyz') return { status: 404, body: 'not here\n' }
  const reason = health.notReady()
  return reason === undefined ? { status: 200, body: 'ok\n' } : { status: 503, body: `${reason}\n` }
}

async function answerServices(request: IncomingMessage, health: GatewayHealth): Promise<Answer> {
  const { identity, token = '' } = health
  const isKnown =
    identity !== undefined || (token !== '' && bearsSecret(request.headers.authorization, token))
  if (!isKnown) return { status: 401, body: "the gateway's token is needed\n" }
  const services = servicesIn(await readBody(request))
  if (services === undefined)
    return {
      status: 400,
      body: `the body must be { services: [uuid, ...] } of at most ${bodyMaxBytes} bytes\n`,
    }
  const body: TrafficAnswer = { run, traffic: health.trafficOf(services) }
  return { status: 200, type: 'application/json', body: JSON.stringify(body) }
}

/** Undefined if the body is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bodyMaxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function servicesIn(text: string | undefined): readonly string[] | undefined {
  try {
    const { services } = JSON.parse(text ?? '') as { readonly services?: unknown }
    return Array.isArray(services) && services.every((uuid) => typeof uuid === 'string')
      ? services
      : undefined
  } catch {
    return undefined
  }
}
