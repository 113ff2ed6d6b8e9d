import { isLoopback, readHostAndPort } from '../domain/host-and-port.ts'
import { settingsTable } from './settings.ts'
import type { Settings } from './settings.ts'
import type { Environment } from './setting.ts'

// What an API or a worker on a machine that joined has in common with the first one.

/** The settings that are the same for all processes of the API and workers of an installation. */
const shared = [
  'databaseUrl',
  'temporalAddress',
  'temporalNamespace',
  'temporalTls',
  'temporalAuthorityFile',
  'temporalServerName',
  'temporalCertFile',
  'temporalKeyFile',
  'registryUrl',
  'registryBounded',
  'metroDomain',
  'portOffset',
  'requestsPerSecond',
  'changesPerMinute',
  'hostLossS',
  'eventDays',
  'acmeDirectoryUrl',
  'acmeCaFile',
  'acmeEabKid',
  'acmeEabHmacKey',
  'acmeContact',
  'acmeOrders',
  'acmeOrdersHours',
  'acmeNameOrders',
  'acmeResolver',
  'domainProof',
  'diagnosisPrivate',
] as const satisfies readonly (keyof Settings)[]

/** Those of them that this process has, by the names of their variables. */
export function sharedSettings(env: Environment): Readonly<Record<string, string>> {
  const named = shared.map((key) => settingsTable[key].name)
  return Object.fromEntries(named.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

/** The variables that name services which no other machine reaches. */
export function servicesHereAlone(
  settings: Pick<Settings, 'databaseUrl' | 'temporalAddress' | 'registryUrl'>,
): readonly string[] {
  const { databaseUrl, temporalAddress, registryUrl } = settings
  const hosts = [
    [settingsTable.databaseUrl.name, hostOf(databaseUrl)],
    [settingsTable.temporalAddress.name, temporalAddress && readHostAndPort(temporalAddress)?.host],
    [settingsTable.registryUrl.name, hostOf(registryUrl)],
  ] as const
  return hosts.flatMap(([name, host]) =>
    host === undefined || host === '' || isLoopback(host) ? [name] : [],
  )
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.hostname
}
