import type { Settings } from './settings.ts'

type PlatformSettings = Pick<
  Settings,
  | 'apiPort'
  | 'apiUrl'
  | 'temporalUiPort'
  | 'temporalAddress'
  | 'databaseUrl'
  | 'registryUrl'
  | 'registryOwnerPort'
  | 'agentPort'
  | 'workerMetricsPort'
  | 'gatewayMetricsPort'
>

/**
 * The ports of this machine on which the platform's own parts listen. No service gets them, not even while a
 * part is down: otherwise the part could not start again, and its clients would speak to somebody's
 * application.
 */
export function platformPorts(settings: PlatformSettings): ReadonlySet<number> {
  const { apiPort, temporalUiPort, agentPort, workerMetricsPort, gatewayMetricsPort } = settings
  const { apiUrl, temporalAddress, databaseUrl, registryUrl } = settings
  const own = new Set([apiPort, temporalUiPort, agentPort, workerMetricsPort, gatewayMetricsPort])
  own.add(settings.registryOwnerPort)
  const given = [apiUrl, databaseUrl, registryUrl, temporalAddress && `tcp://${temporalAddress}`]
  for (const text of given) {
    const url = text === undefined ? null : URL.parse(text)
    if (url !== null && url.port !== '' && isThisMachine(url.hostname)) own.add(Number(url.port))
  }
  return own
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.')
}
