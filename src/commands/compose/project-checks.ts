import type { Project, ProjectService } from './project.ts'
import { Condition } from './project.ts'
import type { Reader } from './reader.ts'

/** Refuses what no service shows alone: dependencies, and volumes that several instances would have. */
export function checkProject(
  reader: Reader,
  project: Omit<Project, 'notes'>,
  names: readonly string[],
): void {
  for (const service of project.services) {
    checkDependencies(reader, project, { service, names })
    checkSizes(reader, service)
    checkRollout(reader, service)
  }
  checkVolumes(reader, project)
  checkCircles(reader, project.services)
}

function checkDependencies(
  reader: Reader,
  { services }: Pick<Project, 'services'>,
  { service, names }: { readonly service: ProjectService; readonly names: readonly string[] },
): void {
  for (const dependency of service.dependsOn) {
    const other = services.find(({ key }) => key === dependency.service)
    const name = dependency.service.slice(0, 60)
    if (other === undefined) {
      if (names.includes(dependency.service)) {
        if (dependency.isRequired)
          reader.refuse(dependency, `'${name}' is of a profile that is not switched on`)
      } else reader.refuse(dependency, `there is no service '${name}'`)
      continue
    }
    if (dependency.condition === Condition.Healthy && other.health === undefined) {
      reader.refuse(dependency, `'${name}' has no 'healthcheck', so it is never known to be healthy`)
    }
    if (dependency.condition === Condition.Completed && other.restart === 'always') {
      reader.refuse(dependency, `'${name}' is always restarted, so it never completes`)
    }
  }
}

function checkSizes(reader: Reader, service: ProjectService): void {
  const { key, replicas, mount, autoscale, ports, domains } = service
  if (mount !== undefined && (replicas > 1 || autoscale !== undefined)) {
    reader.refuse(mount, `the volume of '${key}' can not be attached: it would be that of several instances`)
  }
  if (autoscale !== undefined && replicas !== 1) {
    reader.refuse(service, `'${key}' has a number of replicas and autoscale: give one of them`)
  }
  if (autoscale !== undefined && ports.length === 0) {
    reader.refuse(service, `'${key}' has autoscale, but no 'ports' by which its load would come`)
  }
  if (domains !== undefined && ports.length === 0) {
    reader.refuse(
      service,
      `'${key}' has 'roost.domains', but no 'ports': 443:<its port> publishes a web page`,
    )
  }
}

function checkRollout(reader: Reader, service: ProjectService): void {
  const { key, mount, ports, rollout } = service
  if (Object.keys(rollout).length > 0 && ports.length === 0) {
    reader.refuse(
      service,
      `'${key}' has labels about rollouts, but no 'ports': only what has a port is rolled out`,
    )
  }
  if (mount !== undefined && (rollout.canary?.length ?? 0) > 1) {
    const why = 'a volume is with one version at a time, so leave out the label or give 100'
    reader.refuse(mount, `'${key}' has a volume and 'roost.rollout.canary' with several steps: ${why}`)
  }
}

function checkVolumes(reader: Reader, { services }: Pick<Project, 'services'>): void {
  const holders = new Map<string, string>()
  for (const { key, mount } of services) {
    if (mount === undefined) continue
    const holder = holders.get(mount.volume)
    if (holder === undefined) holders.set(mount.volume, key)
    else {
      const why =
        'a volume can be attached to one instance; let one service hold the files and serve them to the other'
      reader.refuse(mount, `'${key}' can not have the volume of '${holder}': ${why}`)
    }
  }
}

function checkCircles(reader: Reader, services: readonly ProjectService[]): void {
  const left = new Map(services.map((service) => [service.key, service]))
  for (let before = -1; before !== left.size;) {
    before = left.size
    for (const [key, { dependsOn }] of left) {
      if (!dependsOn.some(({ service }) => left.has(service))) left.delete(key)
    }
  }
  const [first] = left.values()
  if (first === undefined) return
  reader.refuse(first, `services depend on each other in a circle: ${[...left.keys()].join(', ')}`)
}

/** The services in an order in which each comes after those on which it depends; else as in the file. */
export function inOrder(services: readonly ProjectService[]): readonly ProjectService[] {
  const ordered: ProjectService[] = []
  const add = (service: ProjectService): void => {
    if (ordered.includes(service)) return
    for (const { service: key } of service.dependsOn) {
      const other = services.find((one) => one.key === key)
      if (other !== undefined) add(other)
    }
    ordered.push(service)
  }
  for (const service of services) add(service)
  return ordered
}
