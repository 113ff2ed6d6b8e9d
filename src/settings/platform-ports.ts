import { isLoopback, serverUrl } from '../domain/host-and-port.ts'
import { usualAgentPort } from '../domain/host/api-protocol.ts'
import { joinedPorts } from '../domain/host/control-role.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import type { PartPlace } from '../domain/platform-part.ts'
import type { Settings } from './settings.ts'

/** The ports that the parts of machines that joined have. */
const portsElsewhere = [usualAgentPort, ...Object.values(joinedPorts)]

type PlatformSettings = Pick<
  Settings,
  | 'apiPort'
  | 'apiUrl'
  | 'temporalUiPort'
  | 'temporalAddress'
  | 'databaseUrl'
  | 'registryUrl'
  | 'registryOwnerPort'
  | 'hostsAddress'
  | 'agentPort'
  | 'workerMetricsPort'
  | 'gatewayMetricsPort'
>

/**
 * The ports of this machine on which the platform's own parts listen, and those of machines that joined. No
 * service gets them, not even while a part is down: otherwise the part could not start again, and its clients
 * would speak to somebody's application.
 */
export function platformPorts(settings: PlatformSettings): ReadonlySet<number> {
  const { apiPort, temporalUiPort, agentPort, workerMetricsPort, gatewayMetricsPort } = settings
  const { apiUrl, temporalAddress, databaseUrl, registryUrl } = settings
  const own = new Set([apiPort, temporalUiPort, agentPort, workerMetricsPort, gatewayMetricsPort])
  own.add(settings.registryOwnerPort)
  // Gateways on other machines have parts beside them, too. What one gateway can not serve, none serves.
  if (settings.hostsAddress !== undefined)
    for (const port of [settings.hostsAddress.port, ...portsElsewhere]) own.add(port)
  const given = [apiUrl, databaseUrl, registryUrl, temporalAddress && `tcp://${temporalAddress}`]
  for (const text of given) {
    const url = text === undefined ? null : URL.parse(text)
    if (url !== null && url.port !== '' && isLoopback(url.hostname)) own.add(Number(url.port))
  }
  return own
}

/** The parts with metrics on this machine, if the settings name none: this API, a worker and a gateway. */
export function partsHere(
  settings: Pick<
    Settings,
    'apiHost' | 'apiPort' | 'metricsHost' | 'workerMetricsPort' | 'gatewayMetricsPort'
  >,
): readonly PartPlace[] {
  const { apiHost, apiPort, metricsHost, workerMetricsPort, gatewayMetricsPort } = settings
  return [
    place(PlatformPart.Api, apiHost, apiPort),
    place(PlatformPart.Worker, metricsHost, workerMetricsPort),
    place(PlatformPart.Gateway, metricsHost, gatewayMetricsPort),
  ]
}

function place(part: PartPlace['part'], host: string, port: number): PartPlace {
  const { host: name, origin: address } = new URL(serverUrl('http', { host, port }))
  return { part, name, address }
}
