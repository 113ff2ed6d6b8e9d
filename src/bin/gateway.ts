import { once } from 'node:events'
import path from 'node:path'
import { pino } from 'pino'
import { Registry, collectDefaultMetrics } from 'prom-client'
import { PlatformPart } from '../domain/platform-part.ts'
import { builtInServices } from '../gateway/built-in-services.ts'
import { RenewedTicketSecret } from '../gateway/listeners/ticket-secret.ts'
import { ServingProcesses } from '../gateway/processes/serving-processes.ts'
import { openMetroCertificate } from '../launch/services/metro-certificate.ts'
import { AskedIdentity, partId } from '../trust/asked-identity.ts'
import { UnusableCertificate } from '../x509/key-pair.ts'
import { leaveOnSignal } from './gateway-end.ts'
import { createHealthServer } from './gateway-health.ts'
import { openRoutes } from './gateway-routes.ts'
import { readSettingFile, startWith } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * The main process of the gateway. It knows the routes, the metro domain's certificate and the secret of TLS
 * sessions, and tells them to the serving processes, which do everything else.
 */

const settings = await startWith('gateway', () => readSettings(process.env))
const token = await startWith('gateway', () =>
  readSettingFile('ROOST_GATEWAY_TOKEN_FILE', settings.gatewayTokenFile),
)
const log = pino({ level: settings.logLevel })
const registry = new Registry()
collectDefaultMetrics({ register: registry })

const routes = await openRoutes({ settings, token, builtIn: builtInServices(settings), log })
const certificate = await openMetroCertificate(
  {
    directory: settings.gatewayDir,
    metroDomain: settings.metroDomain,
    certFile: settings.metroCertFile,
    keyFile: settings.metroKeyFile,
  },
  {
    onChange: () => {
      log.info('the certificate of the metro domain is another one now')
      serving.metroChanged()
    },
    onProblem: (message, error) => log.warn({ err: error }, message),
  },
).catch((error: unknown) => {
  if (!(error instanceof UnusableCertificate)) throw error
  log.fatal(error.message)
  process.exit(1)
})

const identity =
  settings.hostsAddress &&
  new AskedIdentity({
    apiUrl: settings.apiUrl,
    token,
    name: { part: PlatformPart.Gateway, id: await partId(settings.gatewayDir) },
    directory: path.join(settings.gatewayDir, 'identity'),
    onProblem: (message, error) => log.warn({ err: error }, message),
  })

// They serve at once with the routes of the last run, because the API may be unreachable for long.
const serving = new ServingProcesses({
  processes: settings.gatewayProcesses,
  program: path.join(import.meta.dirname, 'gateway-serving.ts'),
  table: routes.table,
  metro: certificate,
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
  token,
})
health.listen(settings.gatewayMetricsPort, settings.metricsHost)
await once(health, 'listening')
routes.follow(serving)

leaveOnSignal({
  serving,
  log,
  async leaveShared() {
    await routes.leaveFile()
    health.close()
    health.closeAllConnections()
  },
  async close() {
    identity?.stop()
    await certificate.close()
    await routes.close()
  },
})
