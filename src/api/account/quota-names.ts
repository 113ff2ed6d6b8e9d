import type { getQuotas } from '../../contract/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { QuotaAmounts, QuotaLimits } from '../../domain/account/quotas.ts'

type Entry = OperationEntry<typeof getQuotas>

/** The name of each quota in the API. */
export const quotaNames: Readonly<Record<keyof QuotaAmounts, keyof Entry['used']>> = {
  instances: 'instances',
  liveInstances: 'live_instances',
  liveVcpus: 'live_vcpus',
  liveMemoryMb: 'live_memory_mb',
  serviceGroups: 'service_groups',
  services: 'services',
  volumes: 'volumes',
  totalVolumeMb: 'total_volume_mb',
  registryMb: 'registry_mb',
  snapshotMb: 'snapshot_mb',
  imageMb: 'image_mb',
}

/** The name of each limit in the API. */
export const limitNames: Readonly<Record<keyof QuotaLimits, keyof Entry['limits']>> = {
  minMemoryMb: 'min_memory_mb',
  maxMemoryMb: 'max_memory_mb',
  minVcpus: 'min_vcpus',
  maxVcpus: 'max_vcpus',
  minVolumeMb: 'min_volume_mb',
  maxVolumeMb: 'max_volume_mb',
  minAutoscaleSize: 'min_autoscale_size',
  maxAutoscaleSize: 'max_autoscale_size',
}

/** Numbers under the names that the API has for them. */
export function presentNumbers<Key extends string, Name extends string>(
  names: Readonly<Record<Key, Name>>,
  values: Readonly<Record<Key, number>>,
): Record<Name, number> {
  const named = Object.entries<Name>(names).map(([key, name]) => [name, values[key as Key]])
  return Object.fromEntries(named) as Record<Name, number>
}

/** The other way: those of the numbers that a request gives. */
export function givenNumbers<Key extends string, Name extends string>(
  names: Readonly<Record<Key, Name>>,
  given: Readonly<Partial<Record<Name, number>>> | undefined,
): Partial<Record<Key, number>> {
  const found = Object.entries<Name>(names).flatMap(([key, name]) =>
    given?.[name] === undefined ? [] : [[key, given[name]]],
  )
  return Object.fromEntries(found) as Partial<Record<Key, number>>
}
