import { splitArgumentLine } from '../../domain/instance/argument-line.ts'
import { readDuration, readMegabytes, readVcpus } from './amounts.ts'
import type { Place } from './findings.ts'
import type { Located, LocatedMap } from './located-yaml.ts'
import { Condition } from './project.ts'
import type { Amount, Dependency, HealthCheck, PublicPort, Restart } from './project.ts'
import { shown, valueAt } from './reader.ts'
import type { Reader } from './reader.ts'
import { readDeployKeys, refusedDeployKeys } from './service-keys.ts'

// The values of one service that need nothing but the file.

export const maxReplicas = 100
const maxPort = 65_535

export function readCommand(reader: Reader, service: LocatedMap): readonly string[] | undefined {
  const value = valueAt(service, 'command')
  if (value === undefined) return undefined
  if (value.kind === 'list') {
    return value.items.length === 0
      ? undefined
      : value.items.map((item) => reader.scalar(item, 'command')?.text ?? '')
  }
  const text = reader.text(value, 'command')
  return text === undefined ? undefined : splitArgumentLine(text)
}

const restarts: Readonly<Record<string, Restart>> = {
  no: 'never',
  always: 'always',
  'unless-stopped': 'always',
  'on-failure': 'on-failure',
}
const conditions: Readonly<Record<string, Restart>> = {
  none: 'never',
  any: 'always',
  'on-failure': 'on-failure',
}

export function readRestart(reader: Reader, service: LocatedMap, deploy: LocatedMap | undefined): Restart {
  const policy = valueAt(deploy, 'restart_policy')
  const map = policy && reader.map(policy, 'restart_policy')
  if (map !== undefined) {
    const paced = 'the platform sets the pauses between restarts, and does not give up; leave it out'
    const refused = { delay: paced, max_attempts: paced, window: paced }
    reader.keys(map, "of 'restart_policy'", { read: ['condition'], refused })
  }
  const condition = valueAt(map, 'condition')
  if (condition !== undefined) {
    const word = reader.choice(condition, 'condition', Object.keys(conditions))
    return (word !== undefined && conditions[word]) || 'never'
  }
  const value = valueAt(service, 'restart')
  if (value === undefined) return map === undefined ? 'never' : 'always'
  const text = reader.text(value, 'restart')
  // Without quotes, `no` is a truth value in older YAML.
  const word = text === 'false' ? 'no' : (text ?? 'no')
  if (Object.hasOwn(restarts, word)) return restarts[word]!
  const counted = word.startsWith('on-failure:')
  const reason = counted
    ? 'restarts are not counted; write on-failure'
    : `expected ${Object.keys(restarts).join(', ')}`
  reader.refuse(value, `restart is '${shown(value)}': ${reason}`)
  return 'never'
}

export function readDeploy(reader: Reader, service: LocatedMap): LocatedMap | undefined {
  const value = valueAt(service, 'deploy')
  const deploy = value && reader.map(value, 'deploy')
  if (deploy === undefined) return undefined
  reader.keys(deploy, "of 'deploy'", { read: readDeployKeys, refused: refusedDeployKeys })
  const mode = valueAt(deploy, 'mode')
  if (mode !== undefined) reader.choice(mode, 'mode', ['replicated'])
  return deploy
}

export function readReplicas(reader: Reader, service: LocatedMap, deploy: LocatedMap | undefined): number {
  const range = { min: 0, max: maxReplicas }
  const values = [
    { value: valueAt(deploy, 'replicas'), what: 'replicas' },
    { value: valueAt(service, 'scale'), what: 'scale' },
  ]
  const numbers = values.flatMap(({ value, what }) =>
    value === undefined ? [] : (reader.integer(value, what, range) ?? []),
  )
  const [first = 1, second = first] = numbers
  if (first !== second) reader.refuse(service, "'replicas' and 'scale' differ: give one of them")
  return first
}

interface Resources {
  readonly memoryMb?: Amount
  readonly vcpus?: Amount
}

export function readResources(
  reader: Reader,
  service: LocatedMap,
  deploy: LocatedMap | undefined,
): Resources {
  const limits = readLimits(reader, deploy)
  const memory = valueAt(limits, 'memory') ?? valueAt(service, 'mem_limit')
  const cpus = valueAt(limits, 'cpus') ?? valueAt(service, 'cpus')
  const memoryMb = memory && readMegabytes(reader, memory, 'the memory')
  const vcpus = cpus && readVcpus(reader, cpus, 'cpus')
  return {
    ...(memory && memoryMb !== undefined && { memoryMb: { value: memoryMb, ...placeOf(memory) } }),
    ...(cpus && vcpus !== undefined && { vcpus: { value: vcpus, ...placeOf(cpus) } }),
  }
}

function readLimits(reader: Reader, deploy: LocatedMap | undefined): LocatedMap | undefined {
  const value = valueAt(deploy, 'resources')
  const resources = value && reader.map(value, 'resources')
  if (resources === undefined) return undefined
  const refused = { reservations: "a VM has a fixed memory and processors: give 'limits'" }
  reader.keys(resources, "of 'resources'", { read: ['limits'], refused })
  const limitsValue = valueAt(resources, 'limits')
  const limits = limitsValue && reader.map(limitsValue, 'limits')
  if (limits === undefined) return undefined
  const pids = { pids: 'the processes of a VM are bounded by its memory' }
  reader.keys(limits, "of 'limits'", { read: ['memory', 'cpus'], refused: pids })
  return limits
}

export function placeOf({ file, line }: Place): Place {
  return { file, line }
}

export function readDependencies(reader: Reader, service: LocatedMap): readonly Dependency[] {
  const value = valueAt(service, 'depends_on')
  if (value === undefined) return []
  const started = { condition: Condition.Started, isRequired: true }
  if (value.kind !== 'map') {
    const items = reader.list(value, 'depends_on')?.items ?? []
    return items.flatMap((item) => {
      const name = reader.text(item, 'an entry of depends_on')
      return name === undefined ? [] : { service: name, ...started, ...placeOf(item) }
    })
  }
  return [...value.entries].flatMap(([name, { value: found, ...place }]) => {
    const map = reader.map(found, `${name} of depends_on`)
    if (map === undefined) return []
    reader.keys(map, `of ${name} in 'depends_on'`, { read: ['condition', 'required', 'restart'] })
    const condition = valueAt(map, 'condition')
    const required = valueAt(map, 'required')
    const restart = valueAt(map, 'restart')
    if (restart !== undefined && reader.boolean(restart, 'restart') === true) {
      reader.refuse(
        restart,
        "'restart' of 'depends_on' can not be done: restart it with `roost set <instance> --now`",
      )
    }
    return {
      service: name,
      condition:
        (condition && reader.choice(condition, 'condition', Object.values(Condition))) ?? Condition.Started,
      isRequired: (required && reader.boolean(required, 'required')) ?? true,
      ...placeOf(place),
    }
  })
}

export function readPorts(reader: Reader, service: LocatedMap): readonly PublicPort[] {
  const value = valueAt(service, 'ports')
  const items = value === undefined ? [] : (reader.list(value, 'ports')?.items ?? [])
  const ports = items.flatMap((item) => {
    const port = item.kind === 'map' ? readLongPort(reader, item) : readShortPort(reader, item)
    return port === undefined ? [] : { ...port, place: item }
  })
  return ports.flatMap(({ place, ...port }, index) => {
    const isRepeated = ports.slice(0, index).some((other) => other.port === port.port)
    if (isRepeated) reader.refuse(place, `the port ${port.port} is published twice`)
    return isRepeated ? [] : port
  })
}

const onlyTcp = 'only TCP is published'
const notLocal =
  'what is published is public; leave the port out, and other services of the project reach it by name'
const named = 'the public port has to be named, as in 443:80'

function readShortPort(reader: Reader, item: Located): PublicPort | undefined {
  const text = reader.text(item, 'an entry of ports')
  if (text === undefined) return undefined
  const [, address, first = '', second, protocol] =
    /^(?:(\[[^\]]*\]|\d+\.\d+\.\d+\.\d+):)?([\d-]*)(?::([\d-]+))?(?:\/(\w+))?$/.exec(text) ?? []
  const refuse = (why: string) =>
    reader.refuse(item, `the port '${shown(item)}' can not be published: ${why}`)
  if (address !== undefined && address !== '0.0.0.0' && address !== '[::]') return refuse(notLocal)
  if (protocol !== undefined && protocol !== 'tcp') return refuse(onlyTcp)
  if (first.includes('-') || second?.includes('-')) return refuse('write each port of a range out')
  if (second === undefined || first === '') return refuse(named)
  return portOf(reader, item, { published: first, target: second })
}

function readLongPort(reader: Reader, map: LocatedMap): PublicPort | undefined {
  reader.keys(map, "of 'ports'", {
    read: ['target', 'published', 'protocol', 'mode', 'name', 'host_ip'],
    refused: { app_protocol: 'port 80 is HTTP, 443 HTTPS, and every other one is TLS; leave it out' },
  })
  const protocol = valueAt(map, 'protocol')
  const mode = valueAt(map, 'mode')
  const address = valueAt(map, 'host_ip')
  if (protocol !== undefined) reader.choice(protocol, 'protocol', ['tcp'])
  if (mode !== undefined) reader.choice(mode, 'mode', ['ingress', 'host'])
  if (address !== undefined) return reader.refuse(address, `'host_ip' can not be done: ${notLocal}`)
  const target = valueAt(map, 'target')
  const published = valueAt(map, 'published')
  if (target === undefined || published === undefined) {
    return reader.refuse(map, `a port needs 'target' and 'published': ${named}`)
  }
  const texts = {
    target: reader.text(target, 'target') ?? '',
    published: reader.text(published, 'published') ?? '',
  }
  return portOf(reader, map, texts)
}

function portOf(
  reader: Reader,
  place: Place,
  { published, target }: { readonly published: string; readonly target: string },
): PublicPort | undefined {
  const [port, destinationPort] = [published, target].map((text) =>
    /^\d{1,5}$/.test(text) ? Number(text) : 0,
  )
  const isPort = (number: number | undefined): number is number =>
    number !== undefined && number >= 1 && number <= maxPort
  if (isPort(port) && isPort(destinationPort)) return { port, destinationPort }
  return reader.refuse(place, `a port is not a whole number from 1 to ${maxPort}`)
}

export function readHealth(reader: Reader, service: LocatedMap): HealthCheck | undefined {
  const value = valueAt(service, 'healthcheck')
  const map = value && reader.map(value, 'healthcheck')
  if (map === undefined) return undefined
  reader.keys(map, "of 'healthcheck'", {
    read: ['test', 'interval', 'timeout', 'retries', 'start_period', 'start_interval', 'disable'],
  })
  const disable = valueAt(map, 'disable')
  if (disable !== undefined && reader.boolean(disable, 'disable') === true) return undefined
  const argv = readTest(reader, map)
  const time = (key: string, byDefault: number) => {
    const at = valueAt(map, key)
    return (at && readDuration(reader, at, key)) ?? byDefault
  }
  const retries = valueAt(map, 'retries')
  const intervalMs = time('interval', 30_000)
  const health = {
    intervalMs,
    timeoutMs: time('timeout', 30_000),
    retries: (retries && reader.integer(retries, 'retries', { min: 1, max: 1_000 })) ?? 3,
    startPeriodMs: time('start_period', 0),
    startIntervalMs: time('start_interval', Math.min(intervalMs, 5_000)),
  }
  return argv === undefined ? undefined : { argv, ...health }
}

/** The program of a health check. `NONE` switches the check off. */
function readTest(reader: Reader, map: LocatedMap): readonly string[] | undefined {
  const value = valueAt(map, 'test')
  if (value === undefined) return reader.refuse(map, "'test' is missing: the image's own check is not known")
  if (value.kind === 'scalar') {
    const line = reader.text(value, 'test')
    return line === undefined ? undefined : ['/bin/sh', '-c', line]
  }
  const [kind, ...words] = reader.texts(value, 'test')
  if (kind === 'NONE') return undefined
  if (kind === 'CMD' && words.length > 0) return words
  if (kind === 'CMD-SHELL' && words.length === 1) return ['/bin/sh', '-c', words[0]!]
  return reader.refuse(
    value,
    "'test' has to begin with CMD and a program, with CMD-SHELL and one line, or be NONE",
  )
}
