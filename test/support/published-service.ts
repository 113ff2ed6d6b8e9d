import { waitFor } from './instances.ts'
import { linePort, webPort } from './published-instance.ts'
import type { Stack } from './stack.ts'

export interface PublishedService {
  readonly uuid: string
  readonly host: string
  readonly instances: readonly string[]
}

export interface SleeperWishes {
  readonly count: number
  readonly softLimit?: number
  readonly hardLimit?: number
  /** Whether they keep their memory. Default: yes. */
  readonly stateful?: boolean
}

/** Creates a service and the wanted number of instances of the counter, all in standby from the start. */
export async function publishSleepers(
  stack: Stack,
  name: string,
  wishes: SleeperWishes,
): Promise<PublishedService> {
  const { softLimit, hardLimit, stateful = true } = wishes
  const service = await stack.api.one('createServices', {
    body: {
      name,
      services: [
        { port: 443, destination_port: webPort, handlers: ['http', 'tls'] },
        { port: linePort, handlers: ['tls'] },
      ],
      domains: [{ name }],
      ...(softLimit === undefined ? {} : { soft_limit: softLimit }),
      ...(hardLimit === undefined ? {} : { hard_limit: hardLimit }),
    },
  })
  const created = await stack.api.call('createInstances', {
    body: {
      name,
      image: 'counter',
      replicas: wishes.count - 1,
      service_group: { uuid: service.uuid },
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful },
    },
  })
  const instances = created.map(({ uuid }) => uuid)
  await Promise.all(instances.map((uuid) => waitFor(stack.api, uuid, 'standby')))
  return { uuid: service.uuid, host: String(service.domains[0]?.fqdn), instances }
}
