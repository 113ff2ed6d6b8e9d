import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { pino } from 'pino'
import { Registry, collectDefaultMetrics } from 'prom-client'
import { createNoServiceServer } from '../gateway/no-service.ts'
import { readSettings } from './settings.ts'

const publicPort = 80
const settings = readSettings(process.env)
const log = pino({ level: settings.logLevel })
const registry = new Registry()
collectDefaultMetrics({ register: registry })

const health = createServer((request, response) => {
  const metrics = request.url === '/metrics'
  const known = metrics || request.url === '/healthz' || request.url === '/readyz'
  void Promise.resolve(metrics ? registry.metrics() : '').then((body) => {
    response.writeHead(known ? 200 : 404, { 'Content-Type': metrics ? registry.contentType : 'text/plain' })
    response.end(body)
  })
})
const open = createNoServiceServer()
const port = publicPort + settings.portOffset

health.listen(settings.gatewayMetricsPort, '127.0.0.1')
await once(health, 'listening')
await listenWherePossible(open)

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, close)

/** The rest of the stack is of use without the public port, so a taken one is a warning. */
async function listenWherePossible(server: Server): Promise<void> {
  try {
    server.listen(port)
    await once(server, 'listening')
    log.info({ port }, 'listening')
  } catch (error) {
    log.warn({ port, err: error }, `public port ${port} can not be used; set ROOST_PORT_OFFSET to move it`)
  }
}

function close(): void {
  for (const server of [health, open]) {
    server.close()
    server.closeAllConnections()
  }
}
