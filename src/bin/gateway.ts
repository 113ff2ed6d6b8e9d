import { once } from 'node:events'
import { Server as SecureServer } from 'node:https'
import { flushCompileCache } from 'node:module'
import path from 'node:path'
import { pino } from 'pino'
import { Registry, collectDefaultMetrics } from 'prom-client'
import { builtInServices } from '../gateway/built-in-services.ts'
import { RenewedTicketSecret } from '../gateway/listeners/ticket-secret.ts'
import { ServingProcesses } from '../gateway/processes/serving-processes.ts'
import { serverTls } from '../trust/part-identity.ts'
import { UnusableCertificate } from '../x509/key-pair.ts'
import { builtInElsewhere } from './gateway-built-in.ts'
import { leaveOnSignal } from './gateway-end.ts'
import { createHealthServer } from './gateway-health.ts'
import { openPlace } from './gateway-place.ts'
import { openRoutes } from './gateway-routes.ts'
import { startWith } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * The main process of the gateway. It knows the routes, the metro domain's certificate and the secret of TLS
 * sessions, and tells them to the serving processes, which do everything else.
 */

const settings = await startWith('gateway', () => readSettings(process.env))
const log = pino({ level: settings.logLevel })
const place = await startWith('gateway', async () => await openPlace(settings, log))
const { identity } = place
const registry = new Registry()
collectDefaultMetrics({ register: registry })

const elsewhere = builtInElsewhere(settings, () => identity?.current)
const routes = await openRoutes({
  settings,
  place,
  builtIn: builtInServices({ ...settings, elsewhere }),
  endServing: async () => await serving.end(),
  log,
})
const metro = await place
  .openMetro(routes.table, () => serving.metroChanged())
  .catch((error: unknown) => {
    if (!(error instanceof UnusableCertificate)) throw error
    log.fatal(error.message)
    process.exit(1)
  })

// They serve at once with the routes of the last run, because the API may be unreachable for long.
const serving = new ServingProcesses({
  processes: settings.gatewayProcesses,
  program: path.join(import.meta.dirname, 'gateway-serving.ts'),
  table: routes.table,
  metro,
  ...(identity && { identity }),
  ticketSecret: new RenewedTicketSecret(),
  routesAgeMs: () => routes.ageMs,
  registry,
  log,
})
identity?.onChange(() => serving.identityChanged())
const health = createHealthServer({
  metrics: async () => await serving.metrics(),
  notReady: () =>
    routes.table.revision === undefined ? 'the API has not told the routes yet' : serving.notReady,
  trafficOf: (serviceUuids) => serving.services.of(serviceUuids),
  token: place.health.token,
  identity: place.health.identity?.current,
})
place.health.identity?.onChange((next) => {
  if (health instanceof SecureServer) health.setSecureContext(serverTls(next))
})
health.listen(place.health.port, place.health.host)
await once(health, 'listening')
routes.follow(serving)
flushCompileCache()

leaveOnSignal({
  serving,
  log,
  async leaveShared() {
    await routes.leaveFile()
    health.close()
    health.closeAllConnections()
  },
  async close() {
    place.stop()
    await metro.close()
    await routes.close()
  },
})
