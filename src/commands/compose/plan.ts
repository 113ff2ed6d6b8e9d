import { differencesOf, isOfLaunch } from './differences.ts'
import type { Property } from './differences.ts'
import type { Finding, Place } from './findings.ts'
import { Condition, instanceName, objectName } from './project.ts'
import type { Autoscale, HealthCheck, Mount, PublicPort } from './project.ts'
import { rollOutStep, rolloutRefusals } from './rollout-steps.ts'
import type { RollOutStep } from './rollout-steps.ts'
import type {
  Actual,
  ActualInstance,
  ActualService,
  Configuration,
  Desired,
  DesiredService,
} from './states.ts'

/** One step of a plan. Each is carried out once the one before it is done. */
export type Step =
  | { readonly kind: 'create-volume'; readonly name: string; readonly sizeMb: number }
  | PublishStep
  | NewInstanceStep
  | RollOutStep
  | {
      readonly kind: 'change-instance'
      readonly name: string
      readonly configuration: Configuration
      readonly differences: readonly Property[]
      /** It does not run, so it is started afterwards. */
      readonly isStopped: boolean
    }
  | { readonly kind: 'start-instance'; readonly name: string }
  | {
      readonly kind: 'await'
      readonly key: string
      readonly condition: Condition
      readonly instances: readonly string[]
      readonly health?: HealthCheck
    }
  | {
      readonly kind: 'set-autoscale'
      readonly name: string
      readonly master: string
      readonly autoscale: Autoscale
    }
  | { readonly kind: 'remove-autoscale'; readonly name: string }
  | { readonly kind: 'delete-instance' | 'delete-service' | 'delete-volume'; readonly name: string }

export interface PublishStep {
  readonly kind: 'create-service' | 'change-service'
  readonly name: string
  readonly ports: readonly PublicPort[]
  readonly domains?: readonly string[]
}

export interface NewInstanceStep {
  readonly kind: 'create-instance' | 'replace-instance'
  readonly name: string
  readonly configuration: Configuration
  readonly mount?: Pick<Mount, 'volume' | 'at' | 'readonly'>
  readonly service?: string
  /** Why it is replaced, where it is. */
  readonly why?: string
}

export interface Plan {
  readonly steps: readonly Step[]
  readonly refusals: readonly Finding[]
  /** Instances of the project that the file does not have any more, and that stay. */
  readonly orphans: readonly string[]
}

/** The steps from what there is to what a file asks for. Nothing is changed that is as it should be. */
export function planOf(
  desired: Desired,
  actual: Actual,
  { removesOrphans }: { readonly removesOrphans: boolean },
): Plan {
  const wanted = desired.services.flatMap((service) => namesOf(service, desired.project))
  const keys = desired.services.map(({ key }) => objectName(key, desired.project))
  const others = actual.instances.map(({ name }) => name).filter((name) => !wanted.includes(name))
  // A replica has the name of its service behind its own.
  const isSurplus = (name: string) => keys.some((key) => name === key || name.endsWith(`.${key}`))
  const kept = removesOrphans ? [] : others.filter((name) => !isSurplus(name))
  const inTheWay = holdersOfWanted(desired, actual)
  const early = inTheWay.filter(({ name }) => !kept.includes(name)).map(({ name }) => name)
  const left = withoutInstances(actual, early)
  const orphans = others.filter((name) => !isSurplus(name) && !kept.includes(name) && !early.includes(name))
  const ended = endedServices(desired, actual, kept)
  const inRollouts = leftInRollouts(actual, ended)
  const unkept = actual.inRollouts.filter(({ service }) => service === undefined).map(({ name }) => name)
  const steps = [
    ...volumeSteps(desired, actual),
    ...ended.filter(({ autoscale }) => autoscale !== undefined).map(step('remove-autoscale')),
    ...early.map((name) => ({ kind: 'delete-instance', name }) as const),
    ...desired.services.flatMap((service) => serviceSteps(service, desired, left)),
    ...[...inRollouts, ...(removesOrphans ? unkept : []), ...orphans.toReversed()].map(
      (name) => ({ kind: 'delete-instance', name }) as const,
    ),
    ...ended.map(step('delete-service')),
  ]
  const held = inTheWay.filter(({ name }) => kept.includes(name))
  const refusals = [
    ...rolloutRefusals(desired, actual),
    ...refusalsOf(desired, actual),
    ...held.map(heldText),
  ]
  return { steps, refusals, orphans: [...kept, ...(removesOrphans ? [] : unkept)] }
}

function step<Kind extends 'remove-autoscale' | 'delete-service' | 'delete-instance' | 'delete-volume'>(
  kind: Kind,
) {
  return ({ name }: { readonly name: string }) => ({ kind, name })
}

/** What rollouts of services have beside their members. It goes before its service does. */
function leftInRollouts({ inRollouts }: Actual, ended: readonly ActualService[]): readonly string[] {
  return inRollouts
    .filter(({ service }) => ended.some(({ name }) => name === service))
    .map(({ name }) => name)
}

interface Holder extends Place {
  readonly name: string
  readonly volume: string
}

/** The instances that have a volume which another one is to have. They have to go first. */
function holdersOfWanted({ services, project }: Desired, { instances }: Actual): readonly Holder[] {
  return services.flatMap(({ key, mount }) => {
    if (mount === undefined) return []
    const { volume, file, line } = mount
    return instances
      .filter((one) => one.mount?.volume === volume && one.name !== objectName(key, project))
      .map(({ name }) => ({ name, volume, file, line }))
  })
}

function heldText({ name, volume, file, line }: Holder): Finding {
  const why = `the volume ${volume} is attached to ${name}, which the file does not have any more`
  return { file, line, text: `${why}: --remove-orphans deletes that instance` }
}

function withoutInstances(actual: Actual, names: readonly string[]): Actual {
  return { ...actual, instances: actual.instances.filter(({ name }) => !names.includes(name)) }
}

function namesOf({ key, replicas }: DesiredService, project: string): readonly string[] {
  return Array.from({ length: replicas }, (_, index) => instanceName(key, project, index + 1))
}

function refusalsOf({ project, services, volumes }: Desired, actual: Actual): readonly Finding[] {
  const taken = services.flatMap((service) =>
    namesOf(service, project)
      .filter((name) => actual.foreign.includes(name))
      .map((name) => ({
        file: service.file,
        line: service.line,
        text: `the instance ${name} exists and is not of this project: delete it, or give the project another name`,
      })),
  )
  const wrong = volumes.flatMap(({ name, sizeMb, isExternal, file, line }) => {
    const found = actual.volumes.find((volume) => volume.name === name)
    const text =
      isExternal && found === undefined
        ? `the volume ${name} is external and does not exist: \`roost volume create ${name}\``
        : !isExternal && found !== undefined && found.sizeMb !== sizeMb
          ? `the volume ${name} has ${found.sizeMb} MiB, and the size of a volume can not be changed to ${sizeMb} MiB: ` +
            'give the old size, or copy the data to a volume of another name'
          : undefined
    return text === undefined ? [] : [{ file, line, text }]
  })
  return [...taken, ...wrong]
}

function volumeSteps({ volumes }: Desired, actual: Actual): readonly Step[] {
  const missing = volumes.filter(
    ({ name, isExternal }) => !isExternal && !actual.volumes.some((volume) => volume.name === name),
  )
  return missing.map(({ name, sizeMb }) => ({ kind: 'create-volume', name, sizeMb }))
}

function serviceSteps(service: DesiredService, desired: Desired, actual: Actual): readonly Step[] {
  const name = objectName(service.key, desired.project)
  const found = actual.services.find((one) => one.name === name)
  const names = namesOf(service, desired.project)
  const rollOut = rollOutStep(service, {
    name,
    found,
    instances: actual.instances.filter((one) => names.includes(one.name)),
    isReplaced: (one) => whyReplaced(lasting(service, name), one) !== undefined,
  })
  const instances = names.flatMap((instance) =>
    instanceSteps(service, {
      instance,
      name,
      desired,
      found: actual.instances.find((one) => one.name === instance),
      isRolledOut: rollOut?.instances.includes(instance) === true,
    }),
  )
  const surplus = actual.instances
    .filter((one) => (one.name === name || one.name.endsWith(`.${name}`)) && !names.includes(one.name))
    .toReversed()
    .map(step('delete-instance'))
  const isTouched = rollOut !== undefined || instances.length > 0
  return [
    ...publishSteps(service, name, found),
    ...(isTouched ? awaitSteps(service, desired) : []),
    // What is about to go needs no new version. Clones go on until the new version has the traffic.
    ...(rollOut === undefined ? [] : [...surplus, rollOut]),
    // A master can not be replaced while it is one.
    ...(mustLeaveScale(service, found, instances) ? [{ kind: 'remove-autoscale', name } as const] : []),
    ...instances,
    ...(rollOut === undefined ? surplus : []),
    ...scaleSteps(service, { name, found, instances, project: desired.project }),
  ]
}

function publishSteps(
  { ports, domains }: DesiredService,
  name: string,
  found: ActualService | undefined,
): readonly Step[] {
  if (ports.length === 0) return []
  const wanted = { name, ports, ...(domains && { domains }) }
  if (found === undefined) return [{ kind: 'create-service', ...wanted }]
  const isSame =
    sameSet(ports.map(portText), found.ports.map(portText)) &&
    (domains === undefined || sameSet(domains, found.domains))
  return isSame ? [] : [{ kind: 'change-service', ...wanted }]
}

export function portText({ port, destinationPort }: PublicPort): string {
  return `${String(port)}:${String(destinationPort)}`
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one))
}

function instanceSteps(
  service: DesiredService,
  {
    instance,
    name,
    desired,
    found,
    isRolledOut,
  }: {
    readonly instance: string
    readonly name: string
    readonly desired: Desired
    readonly found: ActualInstance | undefined
    readonly isRolledOut: boolean
  },
): readonly Step[] {
  const { configuration } = service
  const made = { name: instance, configuration, ...lasting(service, name) }
  if (found === undefined) return [{ kind: 'create-instance', ...made }]
  const why = whyReplaced(made, found)
  if (why !== undefined) return [{ kind: 'replace-instance', ...made, why }]
  const differences = differencesOf(configuration, found.configuration).filter(
    (property) => !(isRolledOut && isOfLaunch(property)),
  )
  const isStopped = found.state === 'stopped' || found.state === 'stopping'
  if (differences.length > 0) {
    return [{ kind: 'change-instance', name: instance, configuration, differences, isStopped }]
  }
  const isDone = isStopped && found.exitCode === 0 && isAwaitedToEnd(service, desired)
  return isStopped && !isDone ? [{ kind: 'start-instance', name: instance }] : []
}

/** What an instance has for its whole life. */
function lasting({ mount, ports }: DesiredService, name: string): Pick<NewInstanceStep, 'mount' | 'service'> {
  return {
    ...(mount && { mount: { volume: mount.volume, at: mount.at, readonly: mount.readonly } }),
    ...(ports.length > 0 && { service: name }),
  }
}

function whyReplaced(
  { mount, service }: Pick<NewInstanceStep, 'mount' | 'service'>,
  found: ActualInstance,
): string | undefined {
  const was = found.mount
  const isSame = mount?.volume === was?.volume && mount?.at === was?.at && mount?.readonly === was?.readonly
  if (!isSame) return 'its volume is another one, or mounted in another way'
  if (service !== found.service) return service === undefined ? 'it has no ports any more' : 'it gets ports'
  return undefined
}

function isAwaitedToEnd({ key }: DesiredService, { services }: Desired): boolean {
  return services.some(({ dependsOn }) =>
    dependsOn.some(({ service, condition }) => service === key && condition === Condition.Completed),
  )
}

/** What a service waits for. That something was started needs no step, because each start is waited for. */
function awaitSteps({ dependsOn }: DesiredService, { services, project }: Desired): readonly Step[] {
  return dependsOn.flatMap(({ service: key, condition }): readonly Step[] => {
    const other = services.find((one) => one.key === key)
    if (other === undefined || condition === Condition.Started) return []
    const instances = namesOf(other, project)
    return [{ kind: 'await', key, condition, instances, ...(other.health && { health: other.health }) }]
  })
}

function mustLeaveScale(
  { autoscale, ports }: DesiredService,
  found: ActualService | undefined,
  instances: readonly Step[],
): boolean {
  if (found?.autoscale === undefined || ports.length === 0) return false
  return autoscale === undefined || !sameScale(autoscale, found.autoscale) || isReplaced(instances)
}

function isReplaced(steps: readonly Step[]): boolean {
  return steps.some(({ kind }) => kind === 'replace-instance')
}

function sameScale(a: Autoscale, b: Autoscale | 'other'): boolean {
  return b !== 'other' && a.min === b.min && a.max === b.max && a.metric === b.metric && a.target === b.target
}

function scaleSteps(
  { key, autoscale }: DesiredService,
  {
    name,
    found,
    instances,
    project,
  }: {
    readonly name: string
    readonly found: ActualService | undefined
    readonly instances: readonly Step[]
    readonly project: string
  },
): readonly Step[] {
  if (autoscale === undefined) return []
  const isThere =
    found?.autoscale !== undefined && sameScale(autoscale, found.autoscale) && !isReplaced(instances)
  if (isThere) return []
  return [{ kind: 'set-autoscale', name, master: instanceName(key, project, 1), autoscale }]
}

/** Services of the platform that nothing in the file publishes any more. */
function endedServices(
  { services, project }: Desired,
  actual: Actual,
  orphans: readonly string[],
): readonly ActualService[] {
  const published = services
    .filter(({ ports }) => ports.length > 0)
    .map(({ key }) => objectName(key, project))
  return actual.services.filter(({ name, instances }) => {
    const holdsOrphan = instances.some((instance) => orphans.includes(instance))
    return !published.includes(name) && !holdsOrphan
  })
}

/**
 * The steps that take a project away: what depends on others first, and volumes only where that is asked
 * for.
 */
export function planOfEnd(
  actual: Actual,
  { order, volumes }: { readonly order: readonly string[]; readonly volumes: readonly string[] },
): readonly Step[] {
  const rank = ({ name }: { readonly name: string }) =>
    order.findIndex((key) => name === key || name.endsWith(`.${key}`))
  // What the file does not have comes first: it may depend on the rest, and nothing in the file on it.
  const instances = actual.instances.toSorted((a, b) => {
    const [first, second] = [rank(a), rank(b)].map((at) => (at < 0 ? order.length : at))
    return second! - first!
  })
  const scaled = actual.services.filter(({ autoscale }) => autoscale !== undefined)
  return [
    ...scaled.map(step('remove-autoscale')),
    ...actual.inRollouts.map(step('delete-instance')),
    ...instances.map(step('delete-instance')),
    ...actual.services.map(step('delete-service')),
    ...actual.volumes.filter(({ name }) => volumes.includes(name)).map(step('delete-volume')),
  ]
}
