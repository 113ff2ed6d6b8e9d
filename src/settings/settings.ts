import { availableParallelism, homedir } from 'node:os'
import path from 'node:path'
import {
  changesAtOnce,
  defaultEventDays,
  maxEventsPerAccount,
  defaultChangesPerMinute,
  defaultRequestsPerSecond,
} from '../contract/limits.ts'
import { usualAgentPort } from '../domain/host/api-protocol.ts'
import { serverUrl } from '../domain/host-and-port.ts'
import { DomainProofKind } from '../domain/service/domain-proof.ts'
import { defaultSleepsPerMinute } from '../domain/standby/scale-to-zero.ts'
import { defaultOrderPace } from '../domain/certificate/order-pace.ts'
import { firstSubnetOf } from './first-subnet.ts'
import { serviceSettings } from './service-settings.ts'
import { optional, setting } from './setting.ts'
import type { Base, Environment, Machine, Setting } from './setting.ts'
import * as read from './setting-formats.ts'

/**
 * The only place that knows the names, defaults and meanings of Roost's settings. `docs/settings.md` is
 * generated from it.
 */

const hourMs = 3_600_000

/**
 * The most connections from one client address. Browsers open some six connections per name, but many people
 * may share one address.
 */
const defaultConnectionsPerSource = 1_000

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
const metroDomain = setting('ROOST_METRO_DOMAIN', read.asDomain, 'roost.localhost', {
  meaning: 'Domain below which public names are given out.',
})

/** A file below the data directory. */
function inDataDir(...names: readonly string[]) {
  return { of: (base: Base) => path.join(base.dataDir, ...names), text: `\`<data dir>/${names.join('/')}\`` }
}

const agentDirectory = inDataDir('agent')
const joinToken = inDataDir('keys', 'join-token')
const secretKey = inDataDir('keys', 'secret.key')
const registryKey = inDataDir('keys', 'registry.key')
const registryCert = inDataDir('keys', 'registry.crt')
const authorityKey = inDataDir('keys', 'authority.key')
const authorityCert = inDataDir('keys', 'authority.crt')
const gatewayToken = inDataDir('keys', 'gateway-token')
const gatewayDirectory = inDataDir('gateway')

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
  metroDomain,
  portOffset: setting('ROOST_PORT_OFFSET', read.asPortOffset, (base) => (base.machine.lowPorts ? 0 : 8000), {
    defaultText: '0 as root, else 8000',
    meaning: 'Public port P listens on P + offset.',
  }),
  temporalUiPort: setting('ROOST_TEMPORAL_UI_PORT', read.asPort, 8233, {
    meaning: "Port of Temporal's Web UI.",
  }),
  ...serviceSettings,
  registryBounded: setting('ROOST_REGISTRY_BOUNDED', read.asSwitch, false, {
    defaultText: 'on for the embedded one, else off',
    meaning:
      "Whether users can push only through the registry's owner, which bounds what they keep there (`on`, `off`).",
  }),
  registryOwnerPort: setting('ROOST_REGISTRY_OWNER_PORT', read.asPort, 7074, {
    defaultText: '7074; the stack chooses a free one',
    meaning: "Port of the registry's owner, through which users push and pull, on 127.0.0.1.",
  }),
  requestsPerSecond: setting('ROOST_REQUESTS_PER_SECOND', read.asCount, defaultRequestsPerSecond, {
    meaning:
      'Requests that one token may make per second in the long run, at each API process; five times as many at once.',
  }),
  changesPerMinute: setting('ROOST_CHANGES_PER_MINUTE', read.asAmount, defaultChangesPerMinute, {
    meaning:
      'Objects that one account may make or change per minute in the long run (creates, starts, stops, attaches and the like; not deletes), at each API ' +
      `process and for each processor of its machine; at least ${changesAtOnce} at once after a rest.`,
  }),
  eventDays: setting('ROOST_EVENT_DAYS', read.asAmount, defaultEventDays, {
    meaning: `How many days events are kept; of each account at most the newest ${maxEventsPerAccount}.`,
  }),
  apiUrl: setting(
    'ROOST_API_URL',
    read.asUrl,
    (base) => serverUrl('http', { host: base.apiHost, port: base.apiPort }),
    {
      defaultText: '`http://<API host>:<API port>`',
      meaning: 'Where agents and registry clients find the API.',
    },
  ),
  nodeId: setting('ROOST_NODE_ID', read.asText, 'local', {
    meaning: "The host's name; its work arrives on the task queue `node-<id>`.",
  }),
  agentHost: setting('ROOST_AGENT_HOST', read.asHost, '127.0.0.1', {
    meaning: 'Address that the agent listens on for the API.',
  }),
  agentPort: setting('ROOST_AGENT_PORT', read.asPort, usualAgentPort, {
    defaultText: '7071; the stack chooses a free one',
    meaning: 'Port of the agent: logs and usage for the API, its health and metrics.',
  }),
  agentDir: setting('ROOST_AGENT_DIR', read.asPath, agentDirectory.of, {
    defaultText: agentDirectory.text,
    meaning: 'What the agent keeps: a directory per instance, images.',
  }),
  hostsAddress: setting('ROOST_HOSTS_ADDRESS', optional(read.asHostsAddress), undefined, {
    defaultText: 'no further hosts',
    meaning:
      'The address at which further hosts reach this machine, such as `192.0.2.10` or `roost.example.com:7443`; port 7075 if it names none. If it is set, the API listens there, on all addresses of the machine, with TLS. See [hosts.md](hosts.md).',
  }),
  hostLossS: setting('ROOST_HOST_LOSS_S', optional(read.asHostLoss), undefined, {
    defaultText: '60 if `ROOST_HOSTS_ADDRESS` is set, else `off`',
    meaning:
      'After how many seconds without an answer of the API a host ends its VMs, and the installation begins its instances on other hosts (10 to 86400, or `off`: neither happens). See [hosts.md](hosts.md).',
  }),
  authorityKeyFile: setting('ROOST_AUTHORITY_KEY_FILE', read.asPath, authorityKey.of, {
    defaultText: authorityKey.text,
    meaning: "Private key of the authority that issues certificates for the installation's own parts (PEM).",
  }),
  authorityCertFile: setting('ROOST_AUTHORITY_CERT_FILE', read.asPath, authorityCert.of, {
    defaultText: authorityCert.text,
    meaning: 'Certificate of the authority of `ROOST_AUTHORITY_KEY_FILE` (PEM).',
  }),
  identityDir: setting('ROOST_IDENTITY_DIR', optional(read.asPath), undefined, {
    defaultText: 'the part is on the machine of the control plane',
    meaning:
      'What a machine got when it joined: key, certificate, authority. `roost join` sets it for the parts of the machine.',
  }),
  joinTokenFile: setting('ROOST_JOIN_TOKEN_FILE', read.asPath, joinToken.of, {
    defaultText: joinToken.text,
    meaning: 'The secret with which hosts join: an agent needs a copy of the one that the API has.',
  }),
  secretKeyFile: setting('ROOST_SECRET_KEY_FILE', read.asPath, secretKey.of, {
    defaultText: secretKey.text,
    meaning: 'A key of 32 bytes in base64. It encrypts environment variables and private keys at rest.',
  }),
  registryKeyFile: setting('ROOST_REGISTRY_KEY_FILE', read.asPath, registryKey.of, {
    defaultText: registryKey.text,
    meaning: 'Private key that signs registry tokens (PEM).',
  }),
  registryCertFile: setting('ROOST_REGISTRY_CERT_FILE', read.asPath, registryCert.of, {
    defaultText: registryCert.text,
    meaning: 'Certificate of the key in `ROOST_REGISTRY_KEY_FILE`, which the registry trusts (PEM).',
  }),
  vmm: setting('ROOST_VMM', read.choice(read.vmmKinds), 'auto', {
    meaning:
      '`auto` and `qemu` run real virtual machines, `fake` pretends to (for load tests of the control plane).',
  }),
  accel: setting('ROOST_ACCEL', read.choice(read.accelerations), 'auto', {
    meaning: '`auto` uses KVM if a probe shows that it works, else emulation (`tcg`).',
  }),
  vmSubnet: setting('ROOST_VM_SUBNET', read.asSubnet, (base) => firstSubnetOf(base.dataDir), {
    defaultText: 'a /20 of 10.64.0.0/10 derived from the data directory',
    meaning:
      'IPv4 network of the instances of the first host, a /20 or a /16. If it is in use already, the host gets the next free /20. A host keeps the network that it has.',
  }),
  vmEgress: setting('ROOST_VM_EGRESS', read.asSwitch, (base) => base.machine.networkDevices, {
    defaultText: 'on as root, else off',
    meaning: 'Whether instances reach the outside (`on`, `off`). They never do if the agent is not root.',
  }),
  vmBandwidthMbit: setting('ROOST_VM_BANDWIDTH_MBIT', optional(read.asBandwidth), undefined, {
    defaultText: 'no bound',
    meaning:
      'What one instance may send, and what it may receive, in Mbit/s each, from 1 to 100000. Only if the agent is root.',
  }),
  meshPort: setting('ROOST_MESH_PORT', read.asPort, 51_820, {
    meaning: 'UDP port at which the agent’s host gets packets of the other machines.',
  }),
  sleepsPerMinute: setting('ROOST_SLEEPS_PER_MINUTE', read.asAmount, defaultSleepsPerMinute, {
    meaning:
      'How often a minute the instances of one user may fall asleep on a host, for each of its processors. Beyond that they stay awake for longer. A wake never waits for this.',
  }),
  memoryReserveMb: setting('ROOST_MEMORY_RESERVE_MB', read.asAmount, 1_024, {
    meaning:
      "Memory of the host (MiB) that its instances never get: for the machine itself and the platform's parts on it.",
  }),
  memoryOvercommit: setting('ROOST_MEMORY_OVERCOMMIT', read.asFactor, 1, {
    meaning:
      'How much memory the host promises to instances that run, in proportion to what it has without the reserve. Above 1, some instances are ended for lack of memory if all use what they asked for.',
  }),
  logLevel: setting('ROOST_LOG_LEVEL', read.choice(read.logLevels), 'info', {
    meaning: 'Lowest level that is logged.',
  }),
  workerMetricsPort: setting('ROOST_WORKER_METRICS_PORT', read.asPort, 7072, {
    defaultText: '7072; the stack chooses a free one',
    meaning: 'Port of `/healthz`, `/readyz` and `/metrics` of the worker.',
  }),
  metricsHost: setting('ROOST_METRICS_HOST', read.asHost, '127.0.0.1', {
    meaning:
      'Address on which worker and gateway listen for `/healthz`, `/readyz` and `/metrics`. Everybody who reaches it can read these, so it belongs in a network of the parts.',
  }),
  metricsParts: setting('ROOST_METRICS_PARTS', optional(read.asParts), undefined, {
    defaultText: 'this API, and a worker and a gateway on its machine',
    meaning:
      'Whose metrics the API passes on, beside those of hosts, and which gateways the worker asks for the errors of a rollout: `api=http://10.0.0.1:7070, worker=http://10.0.0.1:7072, gateway=http://10.0.0.2:7073`. List all of each kind. See [observability.md](observability.md).',
  }),
  gatewayTokenFile: setting('ROOST_GATEWAY_TOKEN_FILE', read.asPath, gatewayToken.of, {
    defaultText: gatewayToken.text,
    meaning:
      'The secret with which gateways ask for routes and certificates: a gateway and the worker need a copy of the one that the API has.',
  }),
  gatewayDir: setting('ROOST_GATEWAY_DIR', read.asPath, gatewayDirectory.of, {
    defaultText: gatewayDirectory.text,
    meaning:
      'What the gateway keeps: its last routes, the local certificate authority and its certificate, with their keys.',
  }),
  gatewayProcesses: setting('ROOST_GATEWAY_PROCESSES', read.asProcesses, gatewayProcessesOf, {
    defaultText: 'the processors less one, at least 1',
    meaning:
      'Processes in which the gateway serves, 1 to 64. The kernel gives each new connection to one of them. The limits of connections and of held data are those of all together.',
  }),
  gatewayHost: setting('ROOST_GATEWAY_HOST', optional(read.asHost), gatewayHostOf, {
    defaultText: '127.0.0.1 with a metro domain below `localhost`, else every address',
    meaning: 'Address that the gateway listens on for the public; `::` is every address.',
  }),
  connectionsPerSource: setting('ROOST_CONNECTIONS_PER_SOURCE', read.asCount, defaultConnectionsPerSource, {
    meaning:
      'Connections that one client address may have open at a gateway; a /64 of IPv6 counts as one address, a /56 as 4, a /48 as 16.',
  }),
  gatewayConnections: setting('ROOST_GATEWAY_CONNECTIONS', optional(read.asCount), undefined, {
    defaultText: 'half of the files that the gateway may open, at most 50000',
    meaning:
      'Connections that all clients together may have open at a gateway. At this number, the idlest is closed for a new one.',
  }),
  gatewayHeldMb: setting('ROOST_GATEWAY_HELD_MB', optional(read.asCount), undefined, {
    defaultText: 'a quarter of the memory',
    meaning:
      'The most data, in MiB, that a gateway holds because its clients and instances do not take it. One client address may have a quarter of that, and at most 256.',
  }),
  trustedProxies: setting('ROOST_TRUSTED_PROXIES', read.asNetworks, [], {
    defaultText: 'none',
    meaning:
      'Proxies before the gateway: IP addresses and networks such as `10.0.0.5, 10.1.0.0/16, fd00::/8`. The gateway believes what they say about their clients in PROXY headers (version 2), `X-Forwarded-*` and `Forwarded`. List only addresses from which no client connects by itself.',
  }),
  spans: setting('ROOST_SPANS', read.asSwitch, false, {
    defaultText: 'off',
    meaning:
      'Whether the parts log how long each step of a start or wake took, one line per step (`on`, `off`). See [operations.md](operations.md#where-the-time-of-a-start-goes).',
  }),
  serverTiming: setting('ROOST_SERVER_TIMING', read.asSwitch, false, {
    defaultText: 'off',
    meaning:
      'Whether answers say in `Server-Timing` what the gateway waited for: queue, wake, application (`on`, `off`).',
  }),
  metroCertFile: setting('ROOST_METRO_CERT_FILE', optional(read.asPath), undefined, {
    defaultText: 'a local authority issues it',
    meaning:
      'Certificate of `*.<metro domain>` and the metro domain itself, with its chain (PEM). Read again when the file changes.',
  }),
  metroKeyFile: setting('ROOST_METRO_KEY_FILE', optional(read.asPath), undefined, {
    defaultText: 'a local authority issues it',
    meaning: 'Private key of the certificate in `ROOST_METRO_CERT_FILE` (PEM). Set both or neither.',
  }),
  gatewayMetricsPort: setting('ROOST_GATEWAY_METRICS_PORT', read.asPort, 7073, {
    defaultText: '7073; the stack chooses a free one',
    meaning: 'Port of `/healthz`, `/readyz` and `/metrics` of the gateway.',
  }),
  acmeDirectoryUrl: setting('ROOST_ACME_DIRECTORY_URL', optional(read.asSecureUrl), undefined, {
    defaultText: 'a local authority issues them',
    meaning:
      'Directory of the ACME authority that issues certificates of custom domains, such as `https://acme-v02.api.letsencrypt.org/directory`. By setting it, you agree to the terms of service of the authority.',
  }),
  acmeCaFile: setting('ROOST_ACME_CA_FILE', optional(read.asPath), undefined, {
    defaultText: 'the roots that Node brings',
    meaning: 'Root certificate with which the TLS of the directory itself is verified (PEM).',
  }),
  acmeEabKid: setting('ROOST_ACME_EAB_KID', optional(read.asText), undefined, {
    defaultText: 'none',
    meaning: 'Key id of an external account, if the authority asks for one.',
  }),
  acmeEabHmacKey: setting('ROOST_ACME_EAB_HMAC_KEY', optional(read.asMacKey), undefined, {
    defaultText: 'none',
    meaning:
      'Key of the external account, in base64url. Set it and `ROOST_ACME_EAB_KID`, or neither; they are used once, when the account is made.',
  }),
  acmeContact: setting('ROOST_ACME_CONTACT', optional(read.asMailAddresses), undefined, {
    defaultText: 'none',
    meaning:
      'Mail address to which the authority may write, or several with commas. The authority gets it when the account is made.',
  }),
  acmeOrders: setting('ROOST_ACME_ORDERS', read.asCount, defaultOrderPace.orders, {
    meaning:
      'Orders for certificates that the authority takes from this installation in the time of `ROOST_ACME_ORDERS_HOURS`. A user has a quarter of them for new certificates and as many for renewals, more if there are fewer than four users; all new certificates together leave a quarter to renewals.',
  }),
  acmeOrdersHours: setting('ROOST_ACME_ORDERS_HOURS', read.asCount, defaultOrderPace.windowMs / hourMs, {
    meaning: 'The number of hours over which the authority counts `ROOST_ACME_ORDERS`.',
  }),
  acmeNameOrders: setting('ROOST_ACME_NAME_ORDERS', read.asCount, defaultOrderPace.nameOrders, {
    meaning:
      "Orders for one name in an hour; Let's Encrypt stops looking at a name after this many failures.",
  }),
  acmeResolver: setting('ROOST_ACME_RESOLVER', optional(read.asNameServer), undefined, {
    defaultText: 'the DNS servers of the machine',
    meaning:
      'DNS server with which the platform looks up names to find out why a certificate does not come, or whose a domain is: an IP address, with a port if that is not 53. Set it if names lead elsewhere inside your network than outside.',
  }),
  domainProof: setting(
    'ROOST_DOMAIN_PROOF',
    read.choice(Object.values(DomainProofKind)),
    DomainProofKind.Off,
    {
      meaning:
        '`txt`: a custom domain is taken only by a user whose TXT record in DNS proves that it is theirs. `off`: first come, first served. Switch it on where several users do not trust each other.',
    },
  ),
  diagnosisPrivate: setting('ROOST_DIAGNOSIS_PRIVATE', read.asSwitch, false, {
    defaultText: 'off',
    meaning:
      'Whether the platform connects to private addresses, too, when it finds out why a certificate does not come (`on`, `off`). Users choose where their names lead: set it only if the gateway itself has such an address.',
  }),
} as const

type Table = typeof settingsTable
export type Settings = { readonly [K in keyof Table]: ReturnType<Table[K]['parse']> }

const thisMachine: Machine = {
  homeDirectory: homedir(),
  checkoutDirectory: path.resolve(import.meta.dirname, '../..'),
  lowPorts: process.getuid?.() === 0,
  networkDevices: process.getuid?.() === 0,
}

/**
 * Reads every setting; an empty variable counts as absent. Throws `SettingError` for a value that is not
 * permitted.
 */
export function readSettings(env: Environment, machine: Machine = thisMachine): Settings {
  const unset = { machine, dataDir: '', apiHost: '', apiPort: 0, metroDomain: '' }
  const base: Base = {
    machine,
    dataDir: readOne(dataDir, env, unset),
    apiHost: readOne(apiHost, env, unset),
    apiPort: readOne(apiPort, env, unset),
    metroDomain: readOne(metroDomain, env, unset),
  }
  const read = Object.entries(settingsTable).map(([key, one]) => [key, readOne<unknown>(one, env, base)])
  return Object.fromEntries(read) as Settings
}

function readOne<T>(one: Setting<T>, env: Environment, base: Base): T {
  const text = env[one.name]
  return text === undefined || text === '' ? one.fallback(base) : one.parse(text, one.name)
}

/**
 * One processor is left to the other work of the machine: the main process of the gateway, the control plane,
 * or instances.
 */
function gatewayProcessesOf(): number {
  return Math.min(read.mostProcesses, Math.max(1, availableParallelism() - 1))
}

/**
 * If the metro domain is below `localhost`, only clients on this machine are served by default, because such
 * names lead every client to its own machine.
 */
function gatewayHostOf({ metroDomain }: Base): string | undefined {
  return /(^|\.)localhost$/.test(metroDomain) ? '127.0.0.1' : undefined
}
