import { mayStandBy } from '../standby/scale-to-zero.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/** Amounts of what an account holds, or may hold at a time. */
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
  /** Unpacked images on each host, in MiB. */
  readonly imageMb: number
}

/** The bounds of a single object. */
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

/** No quota is 0, because clients divide by them. */
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
  // The same as `liveMemoryMb`, so that all live instances can sleep with their memory at the same time.
  snapshotMb: 32_768,
  // Enough for the largest image while a host makes it from its layers.
  imageMb: 16_384,
}

/**
 * `minMemoryMb` is the least that clients may ask for. A host gives a VM at least as much as its kernel
 * needs.
 */
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

/**
 * The range of every quota and every limit above: none may be 0, and the columns of the database hold no
 * more than `max`.
 */
export const quotaRange = { min: 1, max: 2_147_483_647 } as const

const limitPairs = [
  ['minMemoryMb', 'maxMemoryMb'],
  ['minVcpus', 'maxVcpus'],
  ['minVolumeMb', 'maxVolumeMb'],
  ['minAutoscaleSize', 'maxAutoscaleSize'],
] as const satisfies readonly (readonly (keyof QuotaLimits)[])[]

/** A least value that is above the most. Nothing could be created with them. */
export interface CrossedLimits {
  readonly min: keyof QuotaLimits
  readonly minValue: number
  readonly max: keyof QuotaLimits
  readonly maxValue: number
}

/** Returns the first pair of limits of which the least is above the most; undefined if there is none. */
export function findCrossedLimits(limits: QuotaLimits): CrossedLimits | undefined {
  const crossed = limitPairs.find(([min, max]) => limits[min] > limits[max])
  if (crossed === undefined) return undefined
  const [min, max] = crossed
  return { min, minValue: limits[min], max, maxValue: limits[max] }
}

/** What an instance adds to its account's use when it is created or started. */
export interface InstanceDemand {
  readonly memoryMb: number
  readonly vcpus: number
  /** When the instance goes to standby. If it is absent, the instance never does. */
  readonly scaleToZero?: ScaleToZero
}

export type LimitedParameter = 'memory_mb' | 'vcpus' | 'size_mb' | 'min_size' | 'max_size'

export interface QuotaExcess {
  readonly quota: keyof QuotaAmounts
  /** The amount that would be in use. */
  readonly value: number
  readonly bound: number
}

export interface LimitBreach<Parameter extends LimitedParameter = LimitedParameter> {
  readonly parameter: Parameter
  readonly value: number
  readonly min: number
  readonly max: number
}

/**
 * Returns the first quota, in the order of `QuotaAmounts`, that `added` would exceed; undefined if it fits.
 */
export function findQuotaExcess(
  quotas: Pick<QuotaReport, 'used' | 'hard'>,
  added: Partial<QuotaAmounts>,
): QuotaExcess | undefined {
  for (const quota of Object.keys(defaultHardQuotas) as (keyof QuotaAmounts)[]) {
    const more = added[quota] ?? 0
    const value = quotas.used[quota] + more
    const bound = quotas.hard[quota]
    // An operator may have lowered the bound below what is in use. A demand that adds nothing to that quota
    // is still allowed.
    if (more > 0 && value > bound) return { quota, value, bound }
  }
  return undefined
}

/**
 * The amounts that an account's deleted instances and volumes still use until their hosts have removed
 * them.
 */
export type DeletedQuotas = Pick<
  QuotaAmounts,
  'instances' | 'liveInstances' | 'liveVcpus' | 'liveMemoryMb' | 'snapshotMb' | 'volumes' | 'totalVolumeMb'
>

/**
 * Returns the first amount that is above its bound; undefined if there is none. A deleted object gives its
 * quota back at once, so that it can be made again. But a user who deletes faster than hosts clean up would
 * use more and more. So an account may use at most double each quota, counting its objects and those that
 * are deleted and not removed yet.
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

/** Returns the first bound of a single instance that `demand` exceeds; undefined if there is none. */
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

/** Returns undefined if a volume of this size is within its bounds. */
export function findVolumeLimitBreach(
  limits: Pick<QuotaLimits, 'minVolumeMb' | 'maxVolumeMb'>,
  sizeMb: number,
): LimitBreach<'size_mb'> | undefined {
  const { minVolumeMb: min, maxVolumeMb: max } = limits
  return sizeMb < min || sizeMb > max ? { parameter: 'size_mb', value: sizeMb, min, max } : undefined
}

/**
 * Whether the account may not use autoscale: its limits allow only a size of one, and one instance exists
 * without autoscale, too.
 */
export function isAutoscaleDisabled(
  limits: Pick<QuotaLimits, 'minAutoscaleSize' | 'maxAutoscaleSize'>,
): boolean {
  return limits.minAutoscaleSize === 1 && limits.maxAutoscaleSize === 1
}

/** Returns the first of the sizes that is outside the account's bounds; undefined if there is none. */
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

/** What `count` volumes of this size add to the use. */
export function volumeDemand(sizeMb: number, count: number): Partial<QuotaAmounts> {
  return { volumes: count, totalVolumeMb: sizeMb * count }
}

/**
 * What `count` live instances of this demand add to the use. The room for a snapshot counts from the start
 * on, and not only while the instance sleeps. So a snapshot is never refused because of the account's quota,
 * and a user who asks for too much is told at once.
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
