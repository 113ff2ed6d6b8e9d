import type { getQuotas } from '../../contract/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { QuotaAmounts, QuotaReport } from '../../domain/account/quotas.ts'

type Entry = OperationEntry<typeof getQuotas>

export function presentQuotas(report: QuotaReport): Entry {
  const { limits } = report
  return {
    status: 'success',
    uuid: report.userUuid,
    used: presentAmounts(report.used),
    hard: presentAmounts(report.hard),
    limits: {
      min_memory_mb: limits.minMemoryMb,
      max_memory_mb: limits.maxMemoryMb,
      min_vcpus: limits.minVcpus,
      max_vcpus: limits.maxVcpus,
      min_volume_mb: limits.minVolumeMb,
      max_volume_mb: limits.maxVolumeMb,
      min_autoscale_size: limits.minAutoscaleSize,
      max_autoscale_size: limits.maxAutoscaleSize,
    },
  }
}

function presentAmounts(amounts: QuotaAmounts): Entry['used'] {
  return {
    instances: amounts.instances,
    live_instances: amounts.liveInstances,
    live_vcpus: amounts.liveVcpus,
    live_memory_mb: amounts.liveMemoryMb,
    service_groups: amounts.serviceGroups,
    services: amounts.services,
    volumes: amounts.volumes,
    total_volume_mb: amounts.totalVolumeMb,
    registry_mb: amounts.registryMb,
    snapshot_mb: amounts.snapshotMb,
    image_mb: amounts.imageMb,
  }
}

/** The name of each quota in messages: its field in the answer of the quotas. */
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
