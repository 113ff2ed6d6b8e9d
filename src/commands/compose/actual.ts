import { entriesOf, isFailed, one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import type { ApiClient } from '../../client/client.ts'
import { defaultMemoryMb, defaultVcpus } from '../../domain/instance/defaults.ts'
import { defaultCooldownMs } from '../../domain/standby/scale-to-zero.ts'
import { projectTag } from './project.ts'
import type { Autoscale } from './project.ts'
import { scaleOf } from './scale.ts'
import type { Actual, ActualInstance, ActualService, InstanceInRollout } from './states.ts'

type Instance = Entry<'GetInstancesAnswer'>
type Service = Entry<'GetServicesAnswer'>

/** What the platform has of a project. Instances have its tag; services and volumes end with its name. */
export async function readActual(
  client: ApiClient,
  project: string,
  wanted: { readonly instances: readonly string[]; readonly volumes: readonly string[] },
  signal: AbortSignal,
): Promise<Actual> {
  const params = { query: { tags: [projectTag(project)] } }
  const tagged = succeeded(await client.GET('/v1/instances', { params, signal }))
  const lasting = tagged.filter((instance) => instance.clone_of === undefined)
  const own = lasting.filter((instance) => instance.rollout === undefined)
  const names = new Set(tagged.map(({ name }) => name))
  const [services, volumes, foreign] = await Promise.all([
    readServices(client, { project, names, signal }),
    readVolumes(client, { project, named: wanted.volumes, signal }),
    findForeign(
      client,
      wanted.instances.filter((name) => !names.has(name)),
      signal,
    ),
  ])
  const inRollouts = await readInRollouts(client, { instances: lasting, services, signal })
  return {
    instances: own.map((instance) => actualInstance(instance)),
    inRollouts,
    services,
    volumes,
    foreign,
  }
}

/**
 * The instances that only rollouts have. An old one that is kept is with no service, so the rollouts of the
 * services say whose it is.
 */
async function readInRollouts(
  client: ApiClient,
  {
    instances,
    services,
    signal,
  }: {
    readonly instances: readonly Instance[]
    readonly services: readonly ActualService[]
    readonly signal: AbortSignal
  },
): Promise<readonly InstanceInRollout[]> {
  const found = instances.flatMap(({ name, rollout, service_group: service }) =>
    rollout === undefined ? [] : { name, rollout, service: service?.name },
  )
  if (found.length === 0) return []
  const keepers = new Map<string, string>()
  for (const { name } of services) {
    const params = { path: { object: name } }
    const { rollouts } = one(await client.GET('/v1/services/{object}/rollouts', { params, signal }))
    for (const { uuid } of rollouts) keepers.set(uuid, name)
  }
  return found.map(({ name, rollout, service = keepers.get(rollout.uuid) }) => ({
    name,
    isNew: rollout.is_new,
    ...(service !== undefined && { service }),
  }))
}

function actualInstance(instance: Instance): ActualInstance {
  const { name, state = 'stopped', exit_code: exitCode, volumes = [], service_group: service } = instance
  const [volume] = volumes
  return {
    name,
    state,
    ...(exitCode !== undefined && { exitCode }),
    configuration: configurationOf(instance),
    ...(volume && { mount: { volume: volume.name, at: volume.at, readonly: volume.readonly } }),
    ...(service && { service: service.name }),
  }
}

function configurationOf(instance: Instance): ActualInstance['configuration'] {
  const { image = '', args, env = {}, tags = [], scale_to_zero: sleep } = instance
  return {
    image,
    ...(args && { args }),
    env,
    memoryMb: instance.memory_mb ?? defaultMemoryMb,
    vcpus: instance.vcpus ?? defaultVcpus,
    restart: instance.restart_policy ?? 'never',
    sleep: {
      policy: sleep?.policy ?? 'off',
      stateful: sleep?.stateful ?? false,
      cooldownMs: sleep?.cooldown_time_ms ?? defaultCooldownMs,
    },
    tags,
  }
}

/** A service is of the project if it ends with its name, and none but the project's instances are in it. */
async function readServices(
  client: ApiClient,
  {
    project,
    names,
    signal,
  }: { readonly project: string; readonly names: ReadonlySet<string>; readonly signal: AbortSignal },
): Promise<readonly ActualService[]> {
  const all = succeeded(await client.GET('/v1/services', { signal }))
  const own = all.filter(
    ({ name, instances = [] }) =>
      name.endsWith(`.${project}`) && instances.every((instance) => names.has(instance.name)),
  )
  return await Promise.all(own.map(async (service) => actualService(client, service, signal)))
}

async function actualService(
  client: ApiClient,
  service: Service,
  signal: AbortSignal,
): Promise<ActualService> {
  const { name, services = [], domains = [], instances = [], autoscale } = service
  const scale = autoscale === true ? await readScale(client, name, signal) : undefined
  return {
    name,
    ports: services.map((port) => ({ port: port.port, destinationPort: port.destination_port })),
    domains: domains.map(({ fqdn }) => fqdn),
    instances: instances.map((instance) => instance.name),
    ...(scale !== undefined && { autoscale: scale }),
  }
}

async function readScale(
  client: ApiClient,
  object: string,
  signal: AbortSignal,
): Promise<Autoscale | 'other'> {
  const params = { path: { object } }
  const [found] = succeeded(await client.GET('/v1/services/{object}/autoscale', { params, signal }))
  return (found && scaleOf(found)) ?? 'other'
}

async function readVolumes(
  client: ApiClient,
  {
    project,
    named,
    signal,
  }: { readonly project: string; readonly named: readonly string[]; readonly signal: AbortSignal },
): Promise<Actual['volumes']> {
  const all = succeeded(await client.GET('/v1/volumes', { signal }))
  return all
    .filter(({ name }) => name.endsWith(`.${project}`) || named.includes(name))
    .map(({ name, size_mb: sizeMb = 0 }) => ({ name, sizeMb }))
}

/** The most names of one request. */
const maxNames = 100

async function findForeign(
  client: ApiClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = []
  for (let at = 0; at < names.length; at += maxNames) {
    const query = { name: names.slice(at, at + maxNames), details: false }
    const entries = entriesOf(await client.GET('/v1/instances', { params: { query }, signal }))
    for (const entry of entries) if (!isFailed(entry)) found.push(entry.name)
  }
  return found
}
