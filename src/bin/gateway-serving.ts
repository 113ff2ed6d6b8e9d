import { flushCompileCache } from 'node:module'
import { setInterval as every } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry, collectDefaultMetrics } from 'prom-client'
import { builtInServices } from '../gateway/built-in-services.ts'
import { trustedProxies } from '../gateway/clients/trusted-proxies.ts'
import { createGateway } from '../gateway/gateway.ts'
import { MainLink } from '../gateway/processes/main-link.ts'
import {
  aloneDrainMs,
  aloneLimitMs,
  closeGraceMs,
  serviceCountsEveryMs,
} from '../gateway/processes/messages.ts'
import type { ToMain, ToServing } from '../gateway/processes/messages.ts'
import { clientShare, queueShare } from '../gateway/processes/process-shares.ts'
import { RouteTable } from '../gateway/route-table.ts'
import { platformPorts } from '../settings/platform-ports.ts'
import { readSettings } from '../settings/settings.ts'
import { openTracing } from '../tracing/tracing.ts'
import { builtInElsewhere } from './gateway-built-in.ts'
import { gatewayRoom } from './gateway-room.ts'

/**
 * One serving process of the gateway: everything between public ports and instances. The main process,
 * `gateway.ts`, starts it and tells it the routes and the secrets.
 */

/** The time between two looks at the ports, until the process has tried to listen on all of them. */
const readyPollMs = 20

const settings = readSettings(process.env)
const log = pino({ level: settings.logLevel }).child({ serving: Number(process.argv[2]) })
const tracer = await openTracing('gateway', { env: process.env, log })
const registry = new Registry()
collectDefaultMetrics({ register: registry })
const builtIn = builtInServices({
  ...settings,
  elsewhere: builtInElsewhere(settings, () => main.identity),
})
const table = new RouteTable({ builtIn: builtIn.map(({ service }) => service) })
const main = new MainLink(table)
const gateway = createGateway({
  routes: table,
  routesAgeMs: () => main.routesAgeMs,
  metroCertificate: main.metro,
  ticketSecret: main.ticketSecret,
  identity: () => main.identity,
  portOffset: settings.portOffset,
  host: settings.gatewayHost,
  sharesPorts: true,
  withheldPorts: platformPorts(settings),
  log,
  registry,
  builtIn,
  serverTiming: settings.serverTiming,
  tracer,
  trustsPeer: trustedProxies(settings.trustedProxies),
  clientLimits: clientShare(await gatewayRoom(settings)),
  balanceLimits: queueShare(settings.gatewayProcesses),
})
const hastened = new AbortController()
setInterval(() => void tellServiceCounts(), serviceCountsEveryMs).unref()
let ending = false

process.on('message', (message) => take(message as ToServing))
// The main process was killed. Until there is another gateway, this process serves by the routes that it has.
process.on('disconnect', () => setTimeout(() => void end(aloneDrainMs), aloneLimitMs))
// These signals may reach all processes of the gateway at once. The main process decides what they mean.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    if (!process.connected) void end(aloneDrainMs)
  })

function take(message: ToServing): void {
  main.take(message)
  if (message.kind === 'listen') void listen()
  else if (message.kind === 'metrics') void tellMetrics(message.ask)
  else if (message.kind === 'drain') void end(message.limitMs)
  else if (message.kind === 'end') void end(0)
}

async function listen(): Promise<void> {
  // It writes some hundred files without a break the first time, so not while there are requests.
  flushCompileCache()
  gateway.start()
  for await (const _ of every(readyPollMs)) {
    if (table.revision !== undefined && gateway.ports.untried === 0) break
  }
  void tell({ kind: 'ready' })
}

async function tellMetrics(ask: number): Promise<void> {
  void tell({ kind: 'metrics', ask, metrics: await registry.getMetricsAsJSON() })
}

async function end(drainMs: number): Promise<void> {
  if (drainMs === 0) hastened.abort()
  if (ending) return
  ending = true
  if (drainMs > 0) await gateway.drain({ limitMs: drainMs, signal: hastened.signal })
  await gateway.close({ graceMs: closeGraceMs })
  await tellServiceCounts()
  await tracer?.close()
  process.exit(0)
}

async function tellServiceCounts(): Promise<void> {
  const counts = gateway.takeServiceCounts()
  if (counts.size > 0) await tell({ kind: 'service-counts', counts })
}

/** Resolves once the channel has taken the message, or if the main process is gone. */
function tell(message: ToMain): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (process.connected) process.send?.(message, undefined, {}, () => resolve())
  else resolve()
  return promise
}
