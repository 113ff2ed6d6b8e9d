import type { EventFacts } from '../event/news.ts'
import type { RestartPolicy } from './restart-policy.ts'
import { InstanceState } from './state.ts'
import { mayStandBy } from '../standby/scale-to-zero.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/** What a user may change of an instance. */
export interface InstanceConfiguration {
  /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
  readonly image: string
  /** Null: the image's own. */
  readonly args: readonly string[] | null
  readonly env: Readonly<Record<string, string>>
  readonly memoryMb: number
  readonly vcpus: number
  readonly restartPolicy: RestartPolicy
  readonly deleteOnStop: boolean
  readonly scaleToZero: ScaleToZero
  readonly tags: readonly string[]
}

/** The properties under their names in the API, each with its field. */
const fieldOf = {
  image: 'image',
  args: 'args',
  env: 'env',
  memory_mb: 'memoryMb',
  vcpus: 'vcpus',
  restart_policy: 'restartPolicy',
  features: 'deleteOnStop',
  scale_to_zero: 'scaleToZero',
  tags: 'tags',
} as const satisfies Record<string, keyof InstanceConfiguration>
export type ChangedProperty = keyof typeof fieldOf
export const changeableProperties = Object.keys(fieldOf) as readonly ChangedProperty[]

/** The properties with which a boot is launched. One that runs keeps what it was launched with. */
export const launchProperties = ['image', 'args', 'env', 'memory_mb', 'vcpus'] as const
export type LaunchProperty = (typeof launchProperties)[number]

/** The properties in which the two differ. */
export function changedProperties(
  before: InstanceConfiguration,
  after: InstanceConfiguration,
): readonly ChangedProperty[] {
  return changeableProperties.filter(
    (name) => canonical(before[fieldOf[name]]) !== canonical(after[fieldOf[name]]),
  )
}

/** Two records are the same whatever the order of their keys. */
function canonical(value: InstanceConfiguration[keyof InstanceConfiguration]): string {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return JSON.stringify(
    isRecord ? Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)) : value,
  )
}

/** Of an instance, what says whether changes wait for a restart. */
export interface ChangedInstance {
  readonly state: InstanceState
  readonly boot: number
  readonly snapshotUuid: string | null
  /** The version of the last change of each property. */
  readonly changedProperties: Readonly<Record<string, number>>
  /** The version with which the last boot was launched. */
  readonly launchedVersion: number
}

/**
 * The changed properties that the running boot, or the kept memory, does not have. They take effect with the
 * next boot that does not go on from a kept memory. What is stopped or comes up now has nothing to wait for.
 */
export function pendingProperties(instance: ChangedInstance): readonly LaunchProperty[] {
  const { state, boot, changedProperties: changed, launchedVersion } = instance
  const runs = state === InstanceState.Running || state === InstanceState.Draining
  if (boot === 0 || !(runs || keepsMemory(instance))) return []
  return launchProperties.filter((name) => (changed[name] ?? 0) > launchedVersion)
}

export function keepsMemory({
  state,
  snapshotUuid,
}: Pick<ChangedInstance, 'state' | 'snapshotUuid'>): boolean {
  return state === InstanceState.Standby && snapshotUuid !== null
}

/** The change in words, one phrase for each property. The values of variables and arguments are left out. */
export function changesInWords(
  before: InstanceConfiguration,
  after: InstanceConfiguration,
): readonly string[] {
  return changedProperties(before, after).map((name) => phraseOf[name](before, after))
}

/** The change for programs: before and after of each property that is one short value. */
export function changeFacts(before: InstanceConfiguration, after: InstanceConfiguration): EventFacts {
  const changed = new Set(changedProperties(before, after))
  const told = Object.entries(factOf).filter(([name]) => changed.has(name as ChangedProperty))
  return Object.fromEntries(
    told.flatMap(([name, read]) => [
      [`${name}_before`, read(before)],
      [`${name}_after`, read(after)],
    ]),
  )
}

type Phrase = (before: InstanceConfiguration, after: InstanceConfiguration) => string

const factOf: Partial<Record<ChangedProperty, (one: InstanceConfiguration) => string | number>> = {
  image: ({ image }) => image,
  memory_mb: ({ memoryMb }) => memoryMb,
  vcpus: ({ vcpus }) => vcpus,
  restart_policy: ({ restartPolicy }) => restartPolicy,
  scale_to_zero: ({ scaleToZero }) => sleepsWhen(scaleToZero),
}

const phraseOf = {
  image: fromTo('image'),
  // Arguments may hold secrets, as variables may.
  args: ({ args: old }, { args }) => `args from ${countOf(old)} to ${countOf(args)}`,
  env: ({ env: old }, { env }) => `env: ${namesThatDiffer(old, env)}`,
  memory_mb: fromTo('memory_mb'),
  vcpus: fromTo('vcpus'),
  restart_policy: fromTo('restart_policy'),
  features: (_before, { deleteOnStop }) => `delete-on-stop ${deleteOnStop ? 'on' : 'off'}`,
  scale_to_zero: fromTo('scale_to_zero'),
  tags: ({ tags: old }, { tags }) => `tags from ${listed(old)} to ${listed(tags)}`,
} satisfies Record<ChangedProperty, Phrase>

function fromTo(name: ChangedProperty): Phrase {
  return (before, after) => {
    const read = factOf[name]
    return `${name} from ${read?.(before) ?? ''} to ${read?.(after) ?? ''}`
  }
}

function countOf(args: readonly string[] | null): string {
  if (args === null) return "the image's own"
  return args.length === 1 ? '1 word' : `${args.length} words`
}

/** The names of variables with what became of them. Their values may be secrets. */
function namesThatDiffer(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name))
  const other = Object.keys(after).filter(
    (name) => Object.hasOwn(before, name) && before[name] !== after[name],
  )
  const parts = [
    ...(added.length === 0 ? [] : [`added ${listed(added)}`]),
    ...(other.length === 0 ? [] : [`changed ${listed(other)}`]),
    ...(gone.length === 0 ? [] : [`removed ${listed(gone)}`]),
  ]
  return parts.join(', ')
}

/** The most names in one sentence; the others are counted. */
const mostListed = 5

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length - mostListed
  return `${names.slice(0, mostListed).join(' ')}${more > 0 ? ` and ${more} more` : ''}`
}

function sleepsWhen(scaleToZero: ScaleToZero): string {
  const { policy, cooldownMs, stateful } = scaleToZero
  if (!mayStandBy(scaleToZero)) return policy
  return `${policy} after ${cooldownMs} ms${stateful ? ' with memory' : ''}`
}
