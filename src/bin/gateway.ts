import { once } from 'node:events'
import { pino } from 'pino'
import { Registry, collectDefaultMetrics } from 'prom-client'
import { builtInApi } from '../gateway/built-in-api.ts'
import { trustedProxies } from '../gateway/clients/trusted-proxies.ts'
import { createGateway } from '../gateway/gateway.ts'
import { openMetroCertificate } from '../launch/services/metro-certificate.ts'
import { UnusableCertificate } from '../x509/key-pair.ts'
import { createHealthServer } from './gateway-health.ts'
import { clientRoom } from './gateway-room.ts'
import { openRoutes } from './gateway-routes.ts'
import { platformPorts } from '../settings/platform-ports.ts'
import { readSettingFile, startWith } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * How long requests under way may take once the gateway stops. WebSockets and TCP connections have no end of
 * their own, so they are cut then.
 */
const closeGraceMs = 1_000

const settings = await startWith('gateway', () => readSettings(process.env))
const token = await startWith('gateway', () =>
  readSettingFile('ROOST_GATEWAY_TOKEN_FILE', settings.gatewayTokenFile),
)
const log = pino({ level: settings.logLevel })
const registry = new Registry()
collectDefaultMetrics({ register: registry })

const api = builtInApi(settings)
const routes = await openRoutes({ settings, token, api, log })
const certificate = await openMetroCertificate(
  {
    directory: settings.gatewayDir,
    metroDomain: settings.metroDomain,
    certFile: settings.metroCertFile,
    keyFile: settings.metroKeyFile,
  },
  {
    onChange: () => log.info('the certificate of the metro domain is another one now'),
    onProblem: (message, error) => log.warn({ err: error }, message),
  },
).catch((error: unknown) => {
  if (!(error instanceof UnusableCertificate)) throw error
  log.fatal(error.message)
  process.exit(1)
})

const gateway = createGateway({
  routes: routes.table,
  routesAgeMs: () => routes.ageMs,
  metroCertificate: certificate,
  portOffset: settings.portOffset,
  host: settings.gatewayHost,
  withheldPorts: platformPorts(settings),
  log,
  registry,
  api,
  serverTiming: settings.serverTiming,
  trustsPeer: trustedProxies(settings.trustedProxies),
  clientLimits: await clientRoom(settings),
})
// The gateway starts at once with the routes of the last run, because the API may be unreachable for long.
gateway.start()

const health = createHealthServer({
  registry,
  notReady: () => (routes.table.revision === undefined ? 'the API has not told the routes yet' : undefined),
})
health.listen(settings.gatewayMetricsPort, '127.0.0.1')
await once(health, 'listening')
routes.follow()

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void close())

async function close(): Promise<void> {
  log.info('closing')
  health.close()
  health.closeAllConnections()
  await gateway.close({ graceMs: closeGraceMs })
  await certificate.close()
  await routes.close()
  process.exit(0)
}
