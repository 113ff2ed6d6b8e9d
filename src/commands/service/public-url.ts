import type { ApiClient } from '../../client/client.ts'
import { publicAddress } from '../../domain/service/public-address.ts'
import { installationOf } from '../installation.ts'

/** The addresses under which a browser finds domains. */
export async function publicUrls(
  client: ApiClient,
  domains: readonly { readonly fqdn: string }[],
): Promise<readonly string[]> {
  if (domains.length === 0) return []
  const { public_port_offset: portOffset } = await installationOf(client)
  return domains.map(({ fqdn }) => publicAddress(fqdn, portOffset))
}
