const httpsPort = 443

/** The address under which the gateway serves a name by https. */
export function publicAddress(fqdn: string, portOffset: number): string {
  const listens = httpsPort + portOffset
  return `https://${fqdn}${listens === httpsPort ? '' : `:${listens}`}`
}

/** The name of the API below the metro domain. No service can have it: it is reserved. */
export function apiName(metroDomain: string): string {
  return `api.${metroDomain}`
}

/** The name of the registry, if it belongs to the installation. No service can have it: it is reserved. */
export function registryName(metroDomain: string): string {
  return `registry.${metroDomain}`
}
