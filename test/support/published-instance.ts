import type { InstanceView } from './instances.ts'
import type { Stack } from './stack.ts'
import { viewOf } from './instances.ts'
import { virtualMachinesOf } from './processes.ts'
import { until } from './until.ts'

/** The ports of `official/counter`: pages and WebSockets by HTTP, lines by TCP. */
export const linePort = 7_000
export const webPort = 8_080
const startLimitMs = 60_000
const sleepLimitMs = 60_000

export interface Published {
  readonly uuid: string
  readonly name: string
  /** The first public name of the instance. */
  readonly host: string
}

/**
 * Creates an instance of the counter with a service of its own. `wishes` are further fields of the request.
 */
export async function publish(
  stack: Stack,
  name: string,
  wishes: Readonly<Record<string, unknown>> = {},
): Promise<Published> {
  const created = await stack.api.one('createInstances', {
    body: {
      name,
      image: 'counter',
      autostart: true,
      wait_timeout_ms: startLimitMs,
      service_group: {
        services: [
          { port: 443, destination_port: webPort, handlers: ['http', 'tls'] },
          { port: 80, destination_port: 443, handlers: ['http', 'redirect'] },
          { port: linePort, handlers: ['tls'] },
        ],
        domains: [{ name }],
      },
      ...wishes,
      ...(wishes['autostart'] === false ? { wait_timeout_ms: 0 } : {}),
    },
  })
  const host = created.service_group?.domains[0]?.fqdn
  if (host === undefined) throw new Error(`${name} has no public name: ${JSON.stringify(created)}`)
  return { uuid: created.uuid, name, host }
}

/** Waits until the instance sleeps and its VM is gone. */
export async function untilAsleep(stack: Stack, uuid: string): Promise<InstanceView> {
  return await until(
    `${uuid} is in standby, and its VM is gone`,
    async () => {
      // The VM is checked first: after a wake the API says standby until it has heard of the wake.
      if (virtualMachinesOf(uuid).length > 0) return false
      const seen = await viewOf(stack.api, uuid)
      return seen.state === 'standby' && seen
    },
    { limitMs: sleepLimitMs },
  )
}
