import assert from 'node:assert/strict'
import type { InstanceView } from './instances.ts'
import { virtualMachinesByInstance } from './processes.ts'
import { webPort } from './published-instance.ts'
import type { Stack } from './stack.ts'
import { until } from './until.ts'

/** A service with one instance, which a test scales. */
export interface AutoscaledService {
  readonly uuid: string
  readonly name: string
  readonly host: string
  /** The UUID of the master. Its name is that of the service. */
  readonly master: string
}

export interface Step {
  readonly lower_bound?: number
  readonly upper_bound?: number
  readonly adjustment: number
}

export interface Policy {
  readonly name: string
  readonly type: 'step'
  readonly metric?: string
  readonly adjustment_type?: string
  readonly steps: readonly Step[]
}

/**
 * The time limit for a change of the service's size. On a machine that emulates VMs, instances start one
 * after the other, and others may have to be given back first.
 */
const sizeLimitMs = 90_000
const startLimitMs = 60_000

/** A policy that wants `size` instances, whatever the load is. */
export function always(size: number): Policy {
  return {
    name: `always-${size}`,
    type: 'step',
    adjustment_type: 'exact',
    steps: [{ lower_bound: 0, adjustment: size }],
  }
}

/** Creates a service on port 443 and an instance in it, and waits until the instance runs. */
export async function publishMaster(
  stack: Stack,
  name: string,
  wishes: Readonly<Record<string, unknown>> = {},
  ofService: { readonly soft_limit?: number } = {},
): Promise<AutoscaledService> {
  const service = await stack.api.one('createServices', {
    body: {
      name,
      services: [{ port: 443, destination_port: webPort, handlers: ['http', 'tls'] }],
      domains: [{ name }],
      ...ofService,
    },
  })
  const { uuid: master } = await stack.api.one('createInstances', {
    body: {
      name,
      image: 'busy',
      service_group: { uuid: service.uuid },
      autostart: true,
      wait_timeout_ms: startLimitMs,
      ...wishes,
    },
  })
  return { uuid: service.uuid, name, host: String(service.domains[0]?.fqdn), master }
}

export async function autoscale(
  stack: Stack,
  service: AutoscaledService,
  configuration: {
    readonly min_size?: number
    readonly max_size?: number
    readonly warmup_time_ms?: number
    readonly cooldown_time_ms?: number
    readonly policies?: readonly Policy[]
  },
): Promise<void> {
  await stack.api.one('createAutoscale', {
    object: service.uuid,
    body: { master: { uuid: service.master }, ...configuration },
  })
}

/** All instances that are attached to the service, also those that are given back. */
export async function instancesOf(
  stack: Stack,
  service: AutoscaledService,
): Promise<readonly InstanceView[]> {
  const { instances = [] } = await stack.api.one('getServices', { object: service.uuid })
  if (instances.length === 0) return []
  const query = { uuid: instances.map(({ uuid }) => uuid).join(','), metrics: 'true' }
  const { entries } = await stack.api.attempt('getInstances', { query })
  // An instance that is given back may be gone between the two calls.
  return entries.filter((entry): entry is InstanceView => 'state' in entry)
}

export async function clonesOf(stack: Stack, service: AutoscaledService): Promise<readonly InstanceView[]> {
  const clones = (await instancesOf(stack, service)).filter(({ clone_of: from }) => from !== undefined)
  for (const { clone_of: from } of clones)
    assert.deepEqual(from, { uuid: service.master, name: service.name })
  return clones
}

/** Waits until the service has exactly `size` instances, each of which runs in one VM of its own. */
export function untilSize(
  stack: Stack,
  service: AutoscaledService,
  size: number,
  wishes: { readonly limitMs?: number; readonly state?: string } = {},
): Promise<readonly InstanceView[]> {
  const { limitMs = sizeLimitMs, state = 'running' } = wishes
  return until(
    `${service.name} has ${size} instances that are ${state}`,
    async () => {
      const views = await instancesOf(stack, service)
      return views.length === size && views.every((view) => view.state === state) && views
    },
    { limitMs },
  )
}

/** Throws if one of these instances has no VM or more than one. */
export function verifyVirtualMachines(stack: Stack, views: readonly InstanceView[]): void {
  const machines = virtualMachinesByInstance(stack.dataDir)
  for (const { uuid, name } of views) {
    assert.equal(machines.get(uuid)?.length, 1, `${name} has ${machines.get(uuid)?.length ?? 0} VMs`)
  }
}

/** Deletes the service and all its instances, at the end of a test that passed or failed. */
export async function remove(stack: Stack, service: AutoscaledService | undefined): Promise<void> {
  if (service === undefined) return
  await stack.api.attempt('deleteAutoscale', { object: service.uuid })
  await stack.api.attempt('deleteInstances', { object: service.master })
  await until('its clones are gone', async () => (await instancesOf(stack, service)).length === 0, {
    limitMs: sizeLimitMs,
  })
  await stack.api.attempt('deleteServices', { object: service.uuid })
}
