import { differencesOf, isOfLaunch } from './differences.ts'
import type { Property } from './differences.ts'
import type { Finding } from './findings.ts'
import { objectName } from './project.ts'
import type { RolloutWishes } from './project.ts'
import type {
  Actual,
  ActualInstance,
  ActualService,
  Configuration,
  Desired,
  DesiredService,
} from './states.ts'

/** Brings what instances are launched with to all instances of a service that are up, by one rollout. */
export interface RollOutStep {
  readonly kind: 'roll-out'
  /** The service of the platform. */
  readonly name: string
  readonly instances: readonly string[]
  readonly configuration: Configuration
  readonly differences: readonly Property[]
  readonly wishes: RolloutWishes
  /** Only one version can have it at a time, so requests wait while the other one gets it. */
  readonly hasVolume: boolean
}

/**
 * The rollout that a service needs; undefined if nothing differs that its instances are launched with. A
 * rollout concerns all instances of a service that are up. So it is none if one of them is to be made again.
 * It is none either if the application moves to another port: the gateway asks both versions for the same
 * port, so one of them would fail for as long as the rollout takes.
 */
export function rollOutStep(
  { ports, configuration, rollout, mount }: DesiredService,
  {
    name,
    found,
    instances,
    isReplaced,
  }: {
    readonly name: string
    readonly found: ActualService | undefined
    /** The instances of the service that the file has. */
    readonly instances: readonly ActualInstance[]
    readonly isReplaced: (instance: ActualInstance) => boolean
  },
): RollOutStep | undefined {
  const up = instances.filter((one) => one.service === name && isUp(one))
  const movesPort = ports.some(({ port, destinationPort }) =>
    found?.ports.some((was) => was.port === port && was.destinationPort !== destinationPort),
  )
  if (ports.length === 0 || movesPort || up.some((one) => isReplaced(one))) return undefined
  const differences = [
    ...new Set(up.flatMap((one) => differencesOf(configuration, one.configuration).filter(isOfLaunch))),
  ]
  if (differences.length === 0) return undefined
  return {
    kind: 'roll-out',
    name,
    instances: up.map((one) => one.name),
    configuration,
    differences,
    wishes: rollout,
    hasVolume: mount !== undefined,
  }
}

/** A rollout leaves out what is stopped, or about to be. */
function isUp({ state }: ActualInstance): boolean {
  return state !== 'stopped' && state !== 'stopping' && state !== 'draining'
}

/** While a rollout is under way, the instances of both versions are there, and their names change. */
export function rolloutRefusals({ services, project }: Desired, { inRollouts }: Actual): readonly Finding[] {
  return services.flatMap(({ key, file, line }) => {
    const name = objectName(key, project)
    if (!inRollouts.some(({ isNew, service }) => isNew && service === name)) return []
    const how = `wait until it is over (\`roost rollouts ${name}\`), or go back (\`roost rollback ${name}\`)`
    return [{ file, line, text: `a rollout of the service ${name} is under way: ${how}` }]
  })
}
