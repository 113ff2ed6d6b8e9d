import { parseObjectName } from '../../domain/object-name.ts'
import { readEnvFile } from './env-file.ts'
import { Findings } from './findings.ts'
import type { Finding, Place } from './findings.ts'
import { interpolateAll } from './interpolation.ts'
import type { Variables } from './interpolation.ts'
import { readLocated } from './located-yaml.ts'
import type { Located, LocatedMap } from './located-yaml.ts'
import { checkNetworks } from './networks.ts'
import { objectName } from './project.ts'
import type { Project, ProjectService } from './project.ts'
import { checkProject } from './project-checks.ts'
import { readMount, readVolumes } from './project-volumes.ts'
import type { Volumes } from './project-volumes.ts'
import { Reader, entry, shown, valueAt } from './reader.ts'
import { readServiceKeys, readTopKeys, refusedServiceKeys, refusedTopKeys } from './service-keys.ts'
import { readLabels } from './service-labels.ts'
import {
  placeOf,
  readCommand,
  readDependencies,
  readDeploy,
  readHealth,
  readPorts,
  readReplicas,
  readResources,
  readRestart,
} from './service-values.ts'

export interface ProjectSource {
  readonly text: string
  /** The name of the file, for messages. */
  readonly file: string
  readonly variables: Variables
  /** The name from the command line, which counts before that of the file. */
  readonly name?: string
  /** The name that is taken if neither says one. */
  readonly defaultName: string
  /** The profiles that are switched on. */
  readonly profiles: readonly string[]
  /** Reads a file that the project names, relative to it. Undefined if it does not exist. */
  readonly readFile: (path: string) => Promise<string | undefined>
}

export type ReadProject =
  | { readonly ok: true; readonly project: Project }
  | { readonly ok: false; readonly refusals: readonly Finding[]; readonly notes: readonly Finding[] }

/** Reads a Compose file. Everything that can not be done is refused together, with the lines. */
export async function readProject(source: ProjectSource): Promise<ReadProject> {
  const findings = new Findings()
  const project = await projectOf(source, findings)
  const { refusals, notes } = findings
  if (project === undefined || refusals.length > 0) return { ok: false, refusals, notes }
  return { ok: true, project: { ...project, notes } }
}

async function projectOf(
  source: ProjectSource,
  findings: Findings,
): Promise<Omit<Project, 'notes'> | undefined> {
  const { text, file, variables } = source
  const reader = new Reader(findings)
  const written = readLocated(text, file, findings)
  const raw = written && reader.map(written, 'the file')
  if (raw === undefined) return undefined
  const name = nameOf(reader, raw, source)
  const all = interpolateAll(raw, { COMPOSE_PROJECT_NAME: name, ...variables }, findings) as LocatedMap
  reader.keys(all, 'of the file', { read: readTopKeys, refused: refusedTopKeys })
  const volumes = readVolumes(reader, all, name)
  const maps = activeServices(reader, all, source.profiles)
  checkNetworks(reader, all, maps)
  const services: ProjectService[] = []
  for (const [key, map] of maps) {
    const context = { reader, key, map, volumes, project: name, source }
    const service = await serviceOf(context)
    if (service !== undefined) services.push(service)
  }
  const project = { name, services, volumes: [...volumes.values()] }
  checkProject(reader, project, namesIn(all))
  return project
}

const nameRule = 'expected letters, digits and single hyphens, beginning with a letter'

function nameOf(reader: Reader, file: LocatedMap, source: ProjectSource): string {
  const value = valueAt(file, 'name')
  const found = value && interpolateAll(value, source.variables, reader.findings)
  const written = found && reader.text(found, 'name')
  const text = source.name ?? written ?? source.defaultName
  const name = text.includes('.') ? undefined : parseObjectName(text)
  if (name !== undefined) return name
  const place = value ?? { file: source.file, line: 1 }
  reader.refuse(place, `'${text.slice(0, 60)}' is no name of a project: ${nameRule}; -p gives another one`)
  return 'project'
}

function namesIn(file: LocatedMap): readonly string[] {
  const services = valueAt(file, 'services')
  return services?.kind === 'map' ? [...services.entries.keys()] : []
}

/** The services whose profiles are switched on, and those without profiles. */
function activeServices(
  reader: Reader,
  file: LocatedMap,
  profiles: readonly string[],
): ReadonlyMap<string, LocatedMap> {
  const value = valueAt(file, 'services')
  const services = value && reader.map(value, 'services')
  if (services === undefined || services.entries.size === 0) {
    reader.refuse(entry(file, 'services') ?? file, "the file has no 'services'")
    return new Map()
  }
  const active = new Map<string, LocatedMap>()
  for (const [key, { value: found }] of services.entries) {
    const map = reader.map(found, `the service ${key}`)
    const own = valueAt(map, 'profiles')
    const names = own === undefined ? [] : reader.texts(own, 'profiles')
    const isActive =
      names.length === 0 || names.some((name) => profiles.includes(name)) || profiles.includes('*')
    if (map !== undefined && isActive) active.set(key, map)
  }
  return active
}

interface ServiceContext {
  readonly reader: Reader
  readonly key: string
  readonly map: LocatedMap
  readonly volumes: Volumes
  readonly project: string
  readonly source: ProjectSource
}

async function serviceOf(context: ServiceContext): Promise<ProjectService | undefined> {
  const { reader, key, map, volumes, project } = context
  reader.keys(map, 'of a service', { read: readServiceKeys, refused: refusedServiceKeys })
  if (key.includes('.') || parseObjectName(objectName(key, project)) === undefined) {
    reader.refuse(map, `'${key.slice(0, 60)}' is no name of a service: ${nameRule}`)
  }
  refuseModes(reader, map)
  const image = readImage(reader, map)
  const deploy = readDeploy(reader, map)
  const args = readCommand(reader, map)
  const mount = readMount(reader, map, volumes)
  const health = readHealth(reader, map)
  const service = {
    key,
    ...(args && { args }),
    env: await readEnvironment(context),
    ...readResources(reader, map, deploy),
    restart: readRestart(reader, map, deploy),
    replicas: readReplicas(reader, map, deploy),
    ...readLabels(reader, map),
    ...(mount && { mount }),
    ports: readPorts(reader, map),
    dependsOn: readDependencies(reader, map),
    ...(health && { health }),
    ...placeOf(map),
  }
  return image === undefined ? undefined : { ...service, image }
}

function readImage(reader: Reader, map: LocatedMap) {
  const value = valueAt(map, 'image')
  const build = entry(map, 'build')
  if (value === undefined) {
    const how = "build the image, put it into the registry with `roost push`, and name it with 'image'"
    return build === undefined
      ? reader.refuse(map, "the service has no 'image'")
      : reader.refuse(build, `'build' can not be done: ${how}`)
  }
  if (build !== undefined) {
    reader.findings.note(build, "nothing is built: 'image' is taken from the registry as it is there")
  }
  const text = reader.text(value, 'image')
  return text === undefined ? undefined : { text, ...placeOf(value) }
}

/** Settings of which only one value means nothing else than what an instance is anyhow. */
const onlyValues: Readonly<Record<string, { readonly value: boolean; readonly why: string }>> = {
  init: { value: true, why: 'an instance always has an init' },
  tty: { value: false, why: 'an application has no terminal; `roost exec` has one' },
  stdin_open: { value: false, why: 'an application has no input; `roost exec` has one' },
  privileged: { value: false, why: 'leave it out: an instance is a VM with a kernel of its own' },
}

function refuseModes(reader: Reader, map: LocatedMap): void {
  for (const [key, { value: only, why }] of Object.entries(onlyValues)) {
    const value = valueAt(map, key)
    const given = value && reader.boolean(value, key)
    if (value && given !== undefined && given !== only)
      reader.refuse(value, `'${key}: ${given}' can not be done: ${why}`)
  }
  const platform = valueAt(map, 'platform')
  if (platform !== undefined) reader.choice(platform, 'platform', ['linux/amd64', 'linux/x86_64', 'linux'])
  const pull = valueAt(map, 'pull_policy')
  if (pull !== undefined) reader.choice(pull, 'pull_policy', ['always', 'missing', 'if_not_present'])
}

async function readEnvironment(context: ServiceContext): Promise<Readonly<Record<string, string>>> {
  const { reader, map, source } = context
  const env: Record<string, string> = {}
  const files = valueAt(map, 'env_file')
  const items = files === undefined ? [] : files.kind === 'list' ? files.items : [files]
  for (const item of items) Object.assign(env, await fileVariables(context, item))
  const value = valueAt(map, 'environment')
  const pairs = value === undefined ? [] : reader.pairs(value, 'environment')
  for (const [name, { text, place }] of pairs) {
    if (!/^[^=\0]{1,256}$/.test(name)) {
      reader.refuse(place, `'${name.slice(0, 60)}' is no name of a variable`)
      continue
    }
    const isMap = value?.kind === 'map'
    const here = source.variables[name]
    if (text !== null) env[name] = text
    else if (here !== undefined) env[name] = here
    else if (isMap) reader.findings.note(place, `the variable ${name} has no value here, so it is left out`)
    else reader.findings.note(place, `the variable ${name} has no value here, so it is left out`)
  }
  return env
}

async function fileVariables(
  { reader, source }: ServiceContext,
  item: Located,
): Promise<Readonly<Record<string, string>>> {
  const map = item.kind === 'map' ? item : undefined
  if (map !== undefined) {
    const refused = {
      format: 'variables are put into the values; use single quotes where they are not wanted',
    }
    reader.keys(map, "of 'env_file'", { read: ['path', 'required'], refused })
  }
  const at = map === undefined ? item : valueAt(map, 'path')
  const path = at === undefined ? reader.refuse(item, "'path' is missing") : reader.text(at, 'env_file')
  if (path === undefined) return {}
  const required = valueAt(map, 'required')
  const isRequired = required === undefined || reader.boolean(required, 'required') !== false
  const text = await source.readFile(path).catch((error: unknown) => {
    reader.refuse(
      item,
      `the file '${shown(at!)}' can not be read: ${error instanceof Error ? error.message : 'unknown'}`,
    )
    return ''
  })
  if (text !== undefined) {
    return readEnvFile(text, { file: path, variables: source.variables, findings: reader.findings })
  }
  if (isRequired) missing(reader, item, shown(at!))
  return {}
}

function missing(reader: Reader, place: Place, file: string): void {
  reader.refuse(place, `the file '${file}' does not exist`)
}
