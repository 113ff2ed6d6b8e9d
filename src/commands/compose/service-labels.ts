import { maxCooldownMs, maxTagLength, maxTags } from '../../contract/limits.ts'
import { AutoscaleMetric } from '../../domain/autoscale/policy.ts'
import type { LocatedMap } from './located-yaml.ts'
import type { Autoscale, RolloutWishes, Sleep } from './project.ts'
import { valueAt } from './reader.ts'
import type { Pair, Reader } from './reader.ts'
import { readRollout, rolloutLabels } from './rollout-labels.ts'

/** What the labels of a service say. */
export interface ServiceLabels {
  readonly tags: readonly string[]
  readonly domains?: readonly string[]
  readonly sleep: Sleep
  readonly autoscale?: Autoscale
  readonly rollout: RolloutWishes
}

/** The labels that mean something here. All others with this beginning are refused. */
const prefix = 'roost.'
export const roostLabels = [
  'roost.domains',
  'roost.scale-to-zero',
  'roost.scale-to-zero.cooldown',
  'roost.autoscale.min',
  'roost.autoscale.max',
  'roost.autoscale.metric',
  'roost.autoscale.target',
  ...rolloutLabels,
] as const

const sleeps: Readonly<Record<string, Omit<Sleep, 'cooldownMs'>>> = {
  off: { policy: 'off', stateful: false },
  on: { policy: 'on', stateful: false },
  idle: { policy: 'idle', stateful: false },
  stateful: { policy: 'on', stateful: true },
  'idle,stateful': { policy: 'idle', stateful: true },
}
const largestTarget = 1_000_000
const largestSize = 1_000_000
/** One of the tags of an instance is the project's. */
const mostLabels = maxTags - 1

export function readLabels(reader: Reader, service: LocatedMap): ServiceLabels {
  const value = valueAt(service, 'labels')
  const pairs = value === undefined ? new Map<string, Pair>() : reader.pairs(value, 'labels')
  for (const [name, { place }] of pairs) {
    if (name.startsWith('traefik.')) {
      reader.refuse(
        place,
        `the label '${name}' can not be done: 'ports' and 'roost.domains' publish a service`,
      )
    } else if (name.startsWith(prefix) && !roostLabels.some((one) => one === name)) {
      reader.refuse(place, `the label '${name}' is not known; there are ${roostLabels.join(', ')}`)
    }
  }
  const domains = pairs.get('roost.domains')
  const autoscale = readAutoscale(reader, pairs)
  return {
    tags: readTags(reader, pairs),
    ...(domains && { domains: readDomains(reader, domains) }),
    sleep: readSleep(reader, pairs),
    rollout: readRollout(reader, pairs),
    ...(autoscale && { autoscale }),
  }
}

function readTags(reader: Reader, pairs: ReadonlyMap<string, Pair>): readonly string[] {
  const own = [...pairs].filter(([name]) => !name.startsWith(prefix) && !name.startsWith('traefik.'))
  const last = own[mostLabels]
  if (last !== undefined)
    reader.refuse(last[1].place, `there are ${own.length} labels, but at most ${mostLabels}`)
  return own.flatMap(([name, { text, place }]) => {
    const tag = text === null || text === '' ? name : `${name}=${text}`
    // Lists of tags in a query are separated by commas.
    if (tag.length <= maxTagLength && !tag.includes(',')) return tag
    reader.refuse(
      place,
      `the label '${name}' is no tag: it has a comma, or more than ${maxTagLength} characters`,
    )
    return []
  })
}

function readDomains(reader: Reader, { text, place }: Pair): readonly string[] {
  const names = (text ?? '').split(/[\s,]+/).filter((name) => name !== '')
  if (names.length === 0)
    reader.refuse(place, "'roost.domains' is empty: expected names, separated by commas")
  // A name with a dot is one of the user's own; the API writes it with a final dot.
  return names.map((name) => (name.includes('.') && !name.endsWith('.') ? `${name}.` : name).toLowerCase())
}

function readSleep(reader: Reader, pairs: ReadonlyMap<string, Pair>): Sleep {
  const pair = pairs.get('roost.scale-to-zero')
  const cooldown = pairs.get('roost.scale-to-zero.cooldown')
  const word = pair?.text ?? 'off'
  const known = sleeps[word === 'true' ? 'on' : word === 'false' ? 'off' : word]
  if (known === undefined && pair !== undefined) {
    reader.refuse(
      pair.place,
      `'roost.scale-to-zero' has an unknown value: expected ${Object.keys(sleeps).join(', ')}`,
    )
  }
  const cooldownMs =
    cooldown &&
    wholeNumber(reader, cooldown, { name: 'roost.scale-to-zero.cooldown', min: 0, max: maxCooldownMs })
  if (cooldown !== undefined && (known?.policy ?? 'off') === 'off') {
    reader.refuse(cooldown.place, "'roost.scale-to-zero.cooldown' needs 'roost.scale-to-zero'")
  }
  return { ...(known ?? sleeps['off']!), ...(cooldownMs !== undefined && { cooldownMs }) }
}

function readAutoscale(reader: Reader, pairs: ReadonlyMap<string, Pair>): Autoscale | undefined {
  const found = (name: string) => pairs.get(`roost.autoscale.${name}`)
  const [min, max, metric, target] = ['min', 'max', 'metric', 'target'].map(found)
  const first = min ?? max ?? metric ?? target
  if (first === undefined) return undefined
  if (max === undefined || target === undefined) {
    reader.refuse(first.place, "autoscale needs 'roost.autoscale.max' and 'roost.autoscale.target'")
    return undefined
  }
  const size = { max: largestSize }
  const lowest = min ? wholeNumber(reader, min, { name: 'roost.autoscale.min', min: 0, ...size }) : 1
  const highest = wholeNumber(reader, max, { name: 'roost.autoscale.max', min: 1, ...size })
  const aim = wholeNumber(reader, target, { name: 'roost.autoscale.target', min: 2, max: largestTarget })
  const metrics = Object.values(AutoscaleMetric)
  const measured = metrics.find((one) => one === (metric?.text ?? AutoscaleMetric.Cpu))
  if (metric !== undefined && measured === undefined) {
    reader.refuse(
      metric.place,
      `'roost.autoscale.metric' has an unknown value: expected ${metrics.join(', ')}`,
    )
  }
  if (lowest === undefined || highest === undefined || aim === undefined || measured === undefined)
    return undefined
  if (lowest > highest) {
    reader.refuse(max.place, `'roost.autoscale.max' is ${highest}, below 'roost.autoscale.min', ${lowest}`)
  }
  return { min: lowest, max: highest, metric: measured, target: aim }
}

function wholeNumber(
  reader: Reader,
  { text, place }: Pair,
  { name, min, max }: { readonly name: string; readonly min: number; readonly max: number },
): number | undefined {
  const value = /^\d{1,15}$/.test(text ?? '') ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  return reader.refuse(place, `'${name}' has to be a whole number from ${min} to ${max}`)
}
