import type { getInstallation } from '../../contract/account/installation-operation.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

export function installation({ settings }: ApiDeps): Handler<typeof getInstallation> {
  const { metroDomain, publicPorts, registryUrl } = settings
  return async () => ({
    entries: [
      {
        status: 'success',
        metro_domain: metroDomain,
        public_port_offset: publicPorts.offset,
        registry: registryUrl,
      },
    ],
  })
}
