import { mayStandBy } from '../standby/scale-to-zero.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/** What an account may hold at a time, and what it holds. */
export interface QuotaAmounts {
  readonly instances: number
  readonly liveInstances: number
  readonly liveVcpus: number
  readonly liveMemoryMb: number
  readonly serviceGroups: number
  readonly services: number
  readonly volumes: number
  readonly totalVolumeMb: number
  readonly registryMb: number
  readonly snapshotMb: number
  /** On each host. */
  readonly imageMb: number
}

/** Bounds of single objects. */
export interface QuotaLimits {
  readonly minMemoryMb: number
  readonly maxMemoryMb: number
  readonly minVcpus: number
  readonly maxVcpus: number
  readonly minVolumeMb: number
  readonly maxVolumeMb: number
  readonly minAutoscaleSize: number
  readonly maxAutoscaleSize: number
}

export interface QuotaReport {
  readonly userUuid: string
  readonly used: QuotaAmounts
  readonly hard: QuotaAmounts
  readonly limits: QuotaLimits
}

/** None is 0: clients divide by them. */
export const defaultHardQuotas: QuotaAmounts = {
  instances: 64,
  liveInstances: 64,
  liveVcpus: 64,
  liveMemoryMb: 32_768,
  serviceGroups: 253,
  services: 253,
  volumes: 253,
  totalVolumeMb: 20_480,
  registryMb: 10_240,
  // As much as live memory: all that may live may sleep.
  snapshotMb: 32_768,
  // Room for the largest image while it is made.
  imageMb: 16_384,
}

/** The least memory is what clients may ask for; a host gives a VM at least the floor its kernel needs. */
export const defaultQuotaLimits: QuotaLimits = {
  minMemoryMb: 16,
  maxMemoryMb: 8_192,
  minVcpus: 1,
  maxVcpus: 1,
  minVolumeMb: 8,
  maxVolumeMb: 20_480,
  minAutoscaleSize: 1,
  maxAutoscaleSize: 32,
}

/** What any of these numbers can be: none is 0, and the columns of the database hold no more. */
export const quotaRange = { min: 1, max: 2_147_483_647 } as const

/** What one instance adds when it is created, and what it adds when it starts. */
export interface InstanceDemand {
  readonly memoryMb: number
  readonly vcpus: number
  /** Absent: it never goes to standby. */
  readonly scaleToZero?: ScaleToZero
}

export type LimitedParameter = 'memory_mb' | 'vcpus' | 'size_mb' | 'min_size' | 'max_size'

export interface QuotaExcess {
  readonly quota: keyof QuotaAmounts
  /** What would be used. */
  readonly value: number
  readonly bound: number
}

export interface LimitBreach<Parameter extends LimitedParameter = LimitedParameter> {
  readonly parameter: Parameter
  readonly value: number
  readonly min: number
  readonly max: number
}

/** The first quota that `added` would pass, in the order of `QuotaAmounts`; undefined when it fits. */
export function findQuotaExcess(
  quotas: Pick<QuotaReport, 'used' | 'hard'>,
  added: Partial<QuotaAmounts>,
): QuotaExcess | undefined {
  for (const quota of Object.keys(defaultHardQuotas) as (keyof QuotaAmounts)[]) {
    const more = added[quota] ?? 0
    const value = quotas.used[quota] + more
    const bound = quotas.hard[quota]
    // Who is over a bound that was lowered later may still do what adds nothing to it.
    if (more > 0 && value > bound) return { quota, value, bound }
  }
  return undefined
}

/** What deleted instances and volumes hold of an account until they are gone. */
export type DeletedQuotas = Pick<
  QuotaAmounts,
  'instances' | 'liveInstances' | 'liveVcpus' | 'liveMemoryMb' | 'snapshotMb' | 'volumes' | 'totalVolumeMb'
>

/**
 * What is deleted gives its quota back at once, so that it can be made anew. But who deletes faster than
 * hosts clean up would hold more and more of them: together with what is deleted and not gone an account has
 * at most the double of each quota.
 */
export function findDeletedExcess(
  { used, hard }: Pick<QuotaReport, 'used' | 'hard'>,
  deleted: DeletedQuotas,
  added: Partial<QuotaAmounts>,
): QuotaExcess | undefined {
  const held: Record<keyof QuotaAmounts, number> = { ...used }
  const bounds: Record<keyof QuotaAmounts, number> = { ...hard }
  for (const quota of Object.keys(deleted) as (keyof DeletedQuotas)[]) {
    held[quota] += deleted[quota]
    bounds[quota] *= 2
  }
  return findQuotaExcess({ used: held, hard: bounds }, added)
}

/** The first bound of a single instance that `demand` does not keep. */
export function findLimitBreach(
  limits: QuotaLimits,
  demand: InstanceDemand,
): LimitBreach<'memory_mb' | 'vcpus'> | undefined {
  const { memoryMb, vcpus } = demand
  if (memoryMb < limits.minMemoryMb || memoryMb > limits.maxMemoryMb) {
    return { parameter: 'memory_mb', value: memoryMb, min: limits.minMemoryMb, max: limits.maxMemoryMb }
  }
  if (vcpus < limits.minVcpus || vcpus > limits.maxVcpus) {
    return { parameter: 'vcpus', value: vcpus, min: limits.minVcpus, max: limits.maxVcpus }
  }
  return undefined
}

/** Undefined where a volume of this size keeps its bounds. */
export function findVolumeLimitBreach(
  limits: Pick<QuotaLimits, 'minVolumeMb' | 'maxVolumeMb'>,
  sizeMb: number,
): LimitBreach<'size_mb'> | undefined {
  const { minVolumeMb: min, maxVolumeMb: max } = limits
  return sizeMb < min || sizeMb > max ? { parameter: 'size_mb', value: sizeMb, min, max } : undefined
}

/** Of an account that may not have more than the one instance that there is anyway. */
export function isAutoscaleDisabled(
  limits: Pick<QuotaLimits, 'minAutoscaleSize' | 'maxAutoscaleSize'>,
): boolean {
  return limits.minAutoscaleSize === 1 && limits.maxAutoscaleSize === 1
}

/** The first size that does not keep the account's bounds. */
export function findAutoscaleBreach(
  limits: Pick<QuotaLimits, 'minAutoscaleSize' | 'maxAutoscaleSize'>,
  sizes: { readonly min: number; readonly max: number },
): LimitBreach<'min_size' | 'max_size'> | undefined {
  const { minAutoscaleSize: min, maxAutoscaleSize: max } = limits
  const given = [
    { parameter: 'min_size', value: sizes.min },
    { parameter: 'max_size', value: sizes.max },
  ] as const
  const breach = given.find(({ value }) => value < min || value > max)
  return breach && { ...breach, min, max }
}

/** What `count` volumes of this size add. */
export function volumeDemand(sizeMb: number, count: number): Partial<QuotaAmounts> {
  return { volumes: count, totalVolumeMb: sizeMb * count }
}

/**
 * What `count` live instances of this demand add. The room for a snapshot counts from the start on, and not
 * only while the instance sleeps: so a snapshot is never refused for its account's sake, and whoever asks for
 * too much hears of it at once.
 */
export function liveDemand(demand: InstanceDemand, count: number): Partial<QuotaAmounts> {
  const { scaleToZero, memoryMb, vcpus } = demand
  const keepsMemory = scaleToZero !== undefined && mayStandBy(scaleToZero) && scaleToZero.stateful
  return {
    liveInstances: count,
    liveVcpus: vcpus * count,
    liveMemoryMb: memoryMb * count,
    ...(keepsMemory ? { snapshotMb: memoryMb * count } : {}),
  }
}
