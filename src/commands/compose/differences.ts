import { launchProperties } from '../../domain/instance/change.ts'
import type { Configuration } from './states.ts'

/** The properties, as the API names them, in which a configuration has to be changed. */
export type Property =
  'image' | 'args' | 'env' | 'memory_mb' | 'vcpus' | 'restart_policy' | 'scale_to_zero' | 'tags'

const readings: Readonly<Record<Property, (configuration: Configuration) => unknown>> = {
  image: ({ image }) => image,
  args: ({ args }) => args ?? null,
  env: ({ env }) => Object.entries(env).toSorted(byName),
  memory_mb: ({ memoryMb }) => memoryMb,
  vcpus: ({ vcpus }) => vcpus,
  restart_policy: ({ restart }) => restart,
  // An instance that does not sleep has a cooldown that means nothing.
  scale_to_zero: ({ sleep }) =>
    sleep.policy === 'off' ? 'off' : [sleep.policy, sleep.stateful, sleep.cooldownMs],
  tags: ({ tags }) => tags.toSorted(),
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}

export function differencesOf(wanted: Configuration, found: Configuration): readonly Property[] {
  return (Object.keys(readings) as readonly Property[]).filter((property) => {
    const [a, b] = [wanted, found].map((each) => JSON.stringify(readings[property](each)))
    return a !== b
  })
}

/** Whether an instance has to be launched anew to get this. */
export function isOfLaunch(property: Property): boolean {
  return (launchProperties as readonly Property[]).includes(property)
}

/** The body of a change of an instance: what differs, and nothing else. */
export function changeBody(configuration: Configuration, differences: readonly Property[]) {
  const has = (property: Property) => differences.includes(property)
  return {
    ...launchBody(configuration, differences),
    ...(has('restart_policy') && { restart_policy: configuration.restart }),
    ...(has('scale_to_zero') && { scale_to_zero: sleepBody(configuration.sleep) }),
    ...(has('tags') && { tags: [...configuration.tags] }),
  }
}

/** The part of a change that an instance gets by its launch. */
export function launchBody(configuration: Configuration, differences: readonly Property[]) {
  const { args } = configuration
  const has = (property: Property) => differences.includes(property)
  return {
    ...(has('image') && { image: configuration.image }),
    ...(has('args') && args !== undefined && { args: [...args] }),
    ...(has('args') && args === undefined && { clear: ['args' as const] }),
    ...(has('env') && { env: { ...configuration.env } }),
    ...(has('memory_mb') && { memory_mb: configuration.memoryMb }),
    ...(has('vcpus') && { vcpus: configuration.vcpus }),
  }
}

export function sleepBody({ policy, stateful, cooldownMs }: Configuration['sleep']) {
  return { policy, stateful, cooldown_time_ms: cooldownMs }
}
