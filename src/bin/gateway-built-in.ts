import type { BuiltInElsewhere } from '../gateway/built-in-services.ts'
import { kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import type { Settings } from '../settings/settings.ts'
import { clientTls } from '../trust/part-identity.ts'
import type { PartIdentity } from '../trust/part-identity.ts'

const servername = kindName(PlatformPart.Api)

/**
 * The way of a gateway on a machine that joined to the API and the registry, through the port for hosts. It
 * is undefined beside the API.
 */
export function builtInElsewhere(
  { identityDir, apiUrl }: Settings,
  identity: () => PartIdentity | undefined,
): BuiltInElsewhere | undefined {
  if (identityDir === undefined) return undefined
  const { hostname, port } = new URL(apiUrl)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port),
    secure: (protocol) => () => {
      const shown = identity()
      return { ...(shown && clientTls(shown)), servername, ALPNProtocols: [protocol] }
    },
  }
}
