import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import path from 'node:path'
import { defaultRequestsPerSecond } from '../contract/limits.ts'
import * as read from './setting-formats.ts'

/** The only place that knows the names, defaults and meanings of Roost's settings. `docs/settings.md` is generated from it. */

/** What defaults depend on besides other settings. */
export interface Machine {
  readonly homeDirectory: string
  readonly checkoutDirectory: string
  /** Ports below 1024 may be bound. */
  readonly lowPorts: boolean
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings that other defaults are derived from. */
interface Base {
  readonly machine: Machine
  readonly dataDir: string
  readonly apiHost: string
  readonly apiPort: number
}

export interface Setting<T> {
  readonly name: string
  readonly meaning: string
  /** The default in words, for the document. */
  readonly defaultText: string
  readonly parse: (text: string, name: string) => T
  readonly fallback: (base: Base) => T
}

function setting<T>(
  name: string,
  parse: (text: string, name: string) => T,
  fallback: T | ((base: Base) => T),
  text: { readonly meaning: string; readonly defaultText?: string },
): Setting<T> {
  const computed = typeof fallback === 'function'
  return {
    name,
    parse,
    meaning: text.meaning,
    defaultText: text.defaultText ?? (computed || fallback === undefined ? '' : String(fallback)),
    fallback: computed ? (fallback as (base: Base) => T) : () => fallback,
  }
}

function optional<T>(
  parse: (text: string, name: string) => T,
): (text: string, name: string) => T | undefined {
  return parse
}

const dataDir = setting(
  'ROOST_DATA_DIR',
  read.asPath,
  (base) => path.join(base.machine.checkoutDirectory, '.roost'),
  {
    defaultText: '`.roost` in the checkout',
    meaning:
      'Everything that one stack keeps: databases, registry, keys, instances. One stack per directory.',
  },
)
const apiHost = setting('ROOST_API_HOST', read.asHost, '127.0.0.1', {
  meaning: 'Address that the API listens on, plain HTTP.',
})
const apiPort = setting('ROOST_API_PORT', read.asPort, 7070, { meaning: 'Port of the API.' })

/** A file below the data directory. */
function inDataDir(...names: readonly string[]) {
  return { of: (base: Base) => path.join(base.dataDir, ...names), text: `\`<data dir>/${names.join('/')}\`` }
}

const agentDirectory = inDataDir('agent')
const joinToken = inDataDir('keys', 'join-token')
const secretKey = inDataDir('keys', 'secret.key')
const registryKey = inDataDir('keys', 'registry.key')
const registryCert = inDataDir('keys', 'registry.crt')

export const settingsTable = {
  dataDir,
  cacheDir: setting(
    'ROOST_CACHE_DIR',
    read.asPath,
    (base) => path.join(base.machine.homeDirectory, '.cache', 'roost'),
    {
      defaultText: '`~/.cache/roost`',
      meaning: 'What set-up downloaded or built, keyed by version and shared by all checkouts.',
    },
  ),
  apiHost,
  apiPort,
  metroDomain: setting('ROOST_METRO_DOMAIN', read.asText, 'roost.localhost', {
    meaning: 'Domain below which public names are given out.',
  }),
  portOffset: setting('ROOST_PORT_OFFSET', read.asPortOffset, (base) => (base.machine.lowPorts ? 0 : 8000), {
    defaultText: '0 as root, else 8000',
    meaning: 'Public port P listens on P + offset.',
  }),
  temporalUiPort: setting('ROOST_TEMPORAL_UI_PORT', read.asPort, 8233, {
    meaning: "Port of Temporal's Web UI.",
  }),
  databaseUrl: setting('DATABASE_URL', optional(read.asUrl), undefined, {
    defaultText: 'embedded',
    meaning: 'PostgreSQL. Set: the stack starts none of its own.',
  }),
  temporalAddress: setting('TEMPORAL_ADDRESS', optional(read.asText), undefined, {
    defaultText: 'embedded',
    meaning: 'Temporal, `host:port`. Set: the stack starts none of its own.',
  }),
  temporalNamespace: setting('TEMPORAL_NAMESPACE', read.asText, 'roost', {
    meaning: 'Namespace in Temporal.',
  }),
  registryUrl: setting('ROOST_REGISTRY_URL', optional(read.asUrl), undefined, {
    defaultText: 'embedded',
    meaning: 'OCI registry, `http://host:port`. Set: the stack starts none of its own.',
  }),
  requestsPerSecond: setting('ROOST_REQUESTS_PER_SECOND', read.asCount, defaultRequestsPerSecond, {
    meaning:
      'Requests that one token may make per second in the long run, at each API process; five times as many at once.',
  }),
  apiUrl: setting('ROOST_API_URL', read.asUrl, (base) => `http://${base.apiHost}:${base.apiPort}`, {
    defaultText: '`http://<API host>:<API port>`',
    meaning: 'Where agents and registry clients find the API.',
  }),
  nodeId: setting('ROOST_NODE_ID', read.asText, 'local', {
    meaning: "The host's name; its work arrives on the task queue `node-<id>`.",
  }),
  agentHost: setting('ROOST_AGENT_HOST', read.asHost, '127.0.0.1', {
    meaning: 'Address that the agent listens on for the API.',
  }),
  agentPort: setting('ROOST_AGENT_PORT', read.asPort, 7071, {
    defaultText: '7071; the stack chooses a free one',
    meaning: 'Port of the agent: logs and usage for the API, its health and metrics.',
  }),
  agentDir: setting('ROOST_AGENT_DIR', read.asPath, agentDirectory.of, {
    defaultText: agentDirectory.text,
    meaning: 'What the agent keeps: a directory per instance, images.',
  }),
  joinTokenFile: setting('ROOST_JOIN_TOKEN_FILE', read.asPath, joinToken.of, {
    defaultText: joinToken.text,
    meaning: 'The secret with which hosts join: an agent needs a copy of the one that the API has.',
  }),
  secretKeyFile: setting('ROOST_SECRET_KEY_FILE', read.asPath, secretKey.of, {
    defaultText: secretKey.text,
    meaning: '32 bytes in base64; encrypt environment variables at rest.',
  }),
  registryKeyFile: setting('ROOST_REGISTRY_KEY_FILE', read.asPath, registryKey.of, {
    defaultText: registryKey.text,
    meaning: 'Private key that signs registry tokens (PEM).',
  }),
  registryCertFile: setting('ROOST_REGISTRY_CERT_FILE', read.asPath, registryCert.of, {
    defaultText: registryCert.text,
    meaning: 'Its certificate, which the registry trusts (PEM).',
  }),
  vmm: setting('ROOST_VMM', read.choice(read.vmmKinds), 'auto', {
    meaning:
      '`auto` and `qemu` run real virtual machines, `fake` pretends to (for load tests of the control plane).',
  }),
  accel: setting('ROOST_ACCEL', read.choice(read.accelerations), 'auto', {
    meaning: '`auto` uses KVM where a probe shows that it works, else emulation (`tcg`).',
  }),
  vmSubnet: setting('ROOST_VM_SUBNET', read.asSubnet, (base) => subnetOf(base.dataDir), {
    defaultText: 'a /16 of 10.64.0.0/10 derived from the data directory',
    meaning: 'IPv4 network of the instances of this host.',
  }),
  vmEgress: setting('ROOST_VM_EGRESS', read.asSwitch, true, {
    defaultText: 'on',
    meaning: 'Whether instances reach the outside (`on`, `off`).',
  }),
  logLevel: setting('ROOST_LOG_LEVEL', read.choice(read.logLevels), 'info', {
    meaning: 'Least level that is logged.',
  }),
  workerMetricsPort: setting('ROOST_WORKER_METRICS_PORT', read.asPort, 7072, {
    defaultText: '7072; the stack chooses a free one',
    meaning: 'Port of `/healthz`, `/readyz` and `/metrics` of the worker, on 127.0.0.1.',
  }),
  gatewayMetricsPort: setting('ROOST_GATEWAY_METRICS_PORT', read.asPort, 7073, {
    defaultText: '7073; the stack chooses a free one',
    meaning: 'The same of the gateway.',
  }),
} as const

type Table = typeof settingsTable
export type Settings = { readonly [K in keyof Table]: ReturnType<Table[K]['parse']> }

const thisMachine: Machine = {
  homeDirectory: homedir(),
  checkoutDirectory: path.resolve(import.meta.dirname, '../..'),
  lowPorts: process.getuid?.() === 0,
}

/** Reads every setting; an empty variable counts as absent. Throws `SettingError` for a value that is not permitted. */
export function readSettings(env: Environment, machine: Machine = thisMachine): Settings {
  const unset = { machine, dataDir: '', apiHost: '', apiPort: 0 }
  const base: Base = {
    machine,
    dataDir: readOne(dataDir, env, unset),
    apiHost: readOne(apiHost, env, unset),
    apiPort: readOne(apiPort, env, unset),
  }
  const read = Object.entries(settingsTable).map(([key, one]) => [key, readOne<unknown>(one, env, base)])
  return Object.fromEntries(read) as Settings
}

function readOne<T>(one: Setting<T>, env: Environment, base: Base): T {
  const text = env[one.name]
  return text === undefined || text === '' ? one.fallback(base) : one.parse(text, one.name)
}

/** Stacks side by side on one host must not meet: the second octet, 64 to 127, follows from the directory. */
function subnetOf(directory: string): string {
  const octet = createHash('sha256').update(directory).digest().readUInt8(0) % 64
  return `10.${64 + octet}.0.0/16`
}
