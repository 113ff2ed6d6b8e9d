import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import { Registry } from 'prom-client'
import { maxServicesAsked } from '../domain/service/service-traffic.ts'
import type { TrafficAnswer } from '../domain/service/service-traffic.ts'
import { bearsSecret } from '../primitives/bearer-secret.ts'

export interface GatewayHealth {
  /** The metrics of all processes, in the Prometheus format. */
  readonly metrics: () => Promise<string>
  /** Why the gateway can serve nothing yet. It is undefined once it can serve. */
  readonly notReady: () => string | undefined
  /** The counts of services, for the API, which has the gateway's token. */
  readonly trafficOf: (serviceUuids: readonly string[]) => TrafficAnswer['traffic']
  readonly token: string
}

/** The counts of this process begin at zero, and its name tells so. */
const run = randomUUID()
/** A UUID with its quotes and comma in JSON. */
const bytesPerUuid = 39
const bodyMaxBytes = maxServicesAsked * bytesPerUuid + 1_024

/** Answers `/healthz`, `/readyz` and `/metrics` to everybody, and `/services` to the API. */
export function createHealthServer(health: GatewayHealth): Server {
  return createServer((request, response) => {
    answer(request, health).then(
      ({ status, type = 'text/plain', body }) =>
        response.writeHead(status, { 'Content-Type': type }).end(body),
      () => response.destroy(),
    )
  })
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}

async function answer(request: IncomingMessage, health: GatewayHealth): Promise<Answer> {
  const { url = '/' } = request
  if (url === '/metrics')
    return { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: await health.metrics() }
  if (url === '/healthz') return { status: 200, body: 'ok\n' }
  if (url === '/services' && request.method === 'POST') return await answerServices(request, health)
  if (url !== '/readyz') return { status: 404, body: 'not here\n' }
  const reason = health.notReady()
  return reason === undefined ? { status: 200, body: 'ok\n' } : { status: 503, body: `${reason}\n` }
}

async function answerServices(request: IncomingMessage, health: GatewayHealth): Promise<Answer> {
  if (!bearsSecret(request.headers.authorization, health.token))
    return { status: 401, body: "the gateway's token is needed\n" }
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
