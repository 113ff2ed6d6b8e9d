const httpsPort = 443

/** The address under which the gateway serves a name by https. */
export function publicAddress(fqdn: string, portOffset: number): string {
  const listens = httpsPort + portOffset
  return `https://${fqdn}${listens === httpsPort ? '' : `:${listens}`}`
}

// No service can have one of these names: they are reserved.

export function apiName(metroDomain: string): string {
  return `api.${metroDomain}`
}

/** The name by which people open the console. It leads to the API. */
export function consoleName(metroDomain: string): string {
  return `console.${metroDomain}`
}

/** The name of the registry, if it belongs to the installation. */
export function registryName(metroDomain: string): string {
  return `registry.${metroDomain}`
}
