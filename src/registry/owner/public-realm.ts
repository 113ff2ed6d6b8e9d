import { apiName, registryName } from '../../domain/service/public-address.ts'

/**
 * Where a client that came through the gateway gets its token: from the API under its public name, at the
 * port at which the client found the registry. Undefined for a client that asks for the registry by another
 * name, such as a client on this machine.
 */
export function publicRealm(metroDomain: string, host = ''): string | undefined {
  const [, name, port = ''] = /^([^:]+)(:\d{1,5})?$/.exec(host.toLowerCase()) ?? []
  if (name !== registryName(metroDomain)) return undefined
  return `https://${apiName(metroDomain)}${port}/registry/token`
}

/** The answer's challenge with another realm. */
export function withRealm(challenge: string, realm: string): string {
  return challenge.replace(/realm="[^"]*"/, `realm="${realm}"`)
}
