import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { defaultHardQuotas, defaultQuotaLimits, quotaRange } from '../../domain/account/quotas.ts'
import type { CrossedLimits, QuotaAmounts, QuotaLimits } from '../../domain/account/quotas.ts'

const hardTexts: Readonly<Record<keyof QuotaAmounts, string>> = {
  instances: 'most instances',
  liveInstances: 'most instances that are not stopped',
  liveVcpus: 'most virtual CPUs of live instances',
  liveMemoryMb: 'most memory of live instances, MiB',
  serviceGroups: 'most services',
  services: 'most published ports',
  volumes: 'most volumes',
  totalVolumeMb: 'most volume space, MiB',
  registryMb: 'most space of images in the registry, MiB',
  snapshotMb: 'most memory of live instances that keep it in standby, MiB',
  imageMb: 'most space of unpacked images on each host, MiB',
}
const limitTexts: Readonly<Record<keyof QuotaLimits, string>> = {
  minMemoryMb: 'least memory of an instance, MiB',
  maxMemoryMb: 'most memory of an instance, MiB',
  minVcpus: 'fewest virtual CPUs of an instance',
  maxVcpus: 'most virtual CPUs of an instance',
  minVolumeMb: 'smallest size of a volume, MiB',
  maxVolumeMb: 'largest size of a volume, MiB',
  minAutoscaleSize: 'smallest size of an autoscale configuration',
  maxAutoscaleSize: 'largest size of an autoscale configuration',
}
/** The options as commander hands them over: only those that were given. */
export type QuotaOptions = Partial<QuotaAmounts> & Partial<QuotaLimits>

/** Adds one option per quota, with its default in the help. */
export function addQuotaOptions(command: Command): Command {
  const texts = { ...hardTexts, ...limitTexts }
  const defaults: Readonly<Record<string, number>> = { ...defaultHardQuotas, ...defaultQuotaLimits }
  for (const [name, text] of Object.entries(texts)) {
    command.option(`--${flagOf(name)} <number>`, `${text} (new users: ${defaults[name]})`, positiveInteger)
  }
  return command
}

export function quotasOf(options: QuotaOptions): {
  readonly hard: Partial<QuotaAmounts>
  readonly limits: Partial<QuotaLimits>
} {
  return { hard: pick(options, hardTexts), limits: pick(options, limitTexts) }
}

/** Says that the least value of something is above the most, as the options call them. */
export function crossedLimitsText({ min, minValue, max, maxValue }: CrossedLimits): string {
  return `--${flagOf(min)} ${minValue} is above --${flagOf(max)} ${maxValue}`
}

function pick<T extends object>(options: QuotaOptions, names: T): Partial<Record<keyof T, number>> {
  const given = Object.entries(options).filter(([name]) => name in names)
  return Object.fromEntries(given) as Partial<Record<keyof T, number>>
}

function flagOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** 0 is refused, because clients divide by what an account may hold. */
function positiveInteger(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < quotaRange.min || value > quotaRange.max) {
    throw new InvalidArgumentError(`It must be a number from ${quotaRange.min} to ${quotaRange.max}.`)
  }
  return value
}
