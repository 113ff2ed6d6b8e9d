import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { serverUrl } from '../domain/host-and-port.ts'
import type { Installed } from './installed.ts'
import { planServices } from './services/embedded-services.ts'
import { ensureKeys } from './keys.ts'
import { ensureUser, PartUser } from './parts/part-users.ts'
import { rememberedPorts, requireFreeHostsPort, requireFreePort } from './ports.ts'
import { keepCopies } from './given-files.ts'
import { confineRoostParts } from './parts/roost-confinements.ts'
import type { RoostConfinements } from './parts/roost-confinements.ts'
import { roostParts } from './parts/roost-parts.ts'
import type { Part } from './parts/part.ts'
import type { StackSettings } from './stack-settings.ts'
import { readNamespaceConfig } from './services/temporal-config.ts'
import { closeTemporal, reopenTemporal } from './services/temporal-access.ts'
import type { TemporalServer } from '../trust/temporal-tls.ts'
import type { TemporalAccess } from './services/temporal-access.ts'
import { registerNamespace } from './services/temporal-registration.ts'

/** The addresses of a stack's services: its own, or those that the settings name. */
export interface StackAddresses {
  readonly databaseUrl: string
  readonly temporalAddress: string
  /** The registry as users reach it. For the stack's own registry this is the owner. */
  readonly registryUrl: string
  readonly apiUrl: string
}

export interface StackPlan {
  readonly addresses: StackAddresses
  /** The parts, in the order of their start. */
  readonly parts: readonly Part[]
  /**
   * Prepares services that the settings name in place of the stack's own. It has to run before the parts
   * start.
   */
  readonly prepareGivenServices: () => Promise<void>
  /**
   * Lets nobody but the parts connect to the embedded Temporal, until `reopenTemporal`. If that is
   * impossible, it calls `onProblem`.
   */
  readonly closeTemporal: (onProblem: (message: string, error: unknown) => void) => Promise<void>
  readonly reopenTemporal: () => Promise<void>
  /**
   * Copies the operator's files for parts that can not read them, now and whenever the files change, until
   * `signal` aborts.
   */
  readonly keepCopies: (
    onProblem: (message: string, error: unknown) => void,
    signal: AbortSignal,
  ) => Promise<void>
}

export interface StackHooks {
  /** Whether the parts of another version run, which have the ports. */
  readonly takesOver: boolean
  /** The Temporal that the settings name. Absent: the stack has its own. */
  readonly temporal?: TemporalServer | undefined
  /** Users of the machine, besides root, who may open the embedded Temporal's Web UI. */
  readonly people: readonly number[]
  /** Called once the database answers, to make the schema and the first user. */
  readonly afterDatabase: (databaseUrl: string) => Promise<void>
  /** Called once the API answers, to make users, tokens and images. */
  readonly afterApi: (addresses: StackAddresses) => Promise<void>
}

const portNames = [
  'postgres',
  'temporal',
  'registry',
  'registryStorage',
  'agent',
  'worker',
  'gateway',
] as const
type Ports = Readonly<Record<(typeof portNames)[number], number>>

/**
 * Decides what is started, and with which ports and keys. Writes the keys and ports to the data directory,
 * but starts nothing.
 */
export async function planStack(
  settings: StackSettings,
  installed: Installed,
  hooks: StackHooks,
): Promise<StackPlan> {
  if (!hooks.takesOver) await requireFreePorts(settings)
  await ensureKeys(settings, Date.now())
  const ports = await rememberedPorts(path.join(settings.dataDir, 'ports.json'), portNames, {
    promised: [settings.apiPort, settings.temporalUiPort],
    areHeld: hooks.takesOver,
  })
  const { parts, registryAt, ...serviceAddresses } = await planServices({
    settings,
    installed,
    ports,
    afterDatabase: hooks.afterDatabase,
  })
  const addresses = { ...serviceAddresses, apiUrl: settings.apiUrl }
  await rememberAddresses(settings, addresses)
  const confinements = await confineRoostParts(settings, installed)
  const access = await temporalAccess({ settings, ports, confinements, people: hooks.people })
  const isOwnTemporal = settings.temporalAddress === undefined
  const own = roostParts({
    confinements,
    env: {
      ...environmentOf(settings, ports),
      ...environmentOfAddresses(addresses, { registryAt, isOwnTemporal }),
    },
    apiAt: serverUrl('http', { host: settings.apiHost, port: settings.apiPort }),
    workerAt: `http://127.0.0.1:${ports.worker}`,
    agentAt: serverUrl('http', { host: settings.agentHost, port: ports.agent }),
    gatewayAt: `http://127.0.0.1:${ports.gateway}`,
    gatewayDir: settings.gatewayDir,
    ...(settings.registryUrl === undefined ? { registryOwnerAt: addresses.registryUrl } : {}),
    afterApi: () => hooks.afterApi(addresses),
  })
  return {
    addresses,
    parts: [...parts, ...own],
    async closeTemporal(onProblem) {
      if (access === undefined) return
      await closeTemporal(access).catch((error: unknown) => {
        onProblem(
          'every user of this machine can connect to Temporal, because its port can not be closed',
          error,
        )
      })
    },
    async reopenTemporal() {
      if (access !== undefined) await reopenTemporal(access).catch(() => undefined)
    },
    async keepCopies(onProblem, signal) {
      if (confinements === undefined) return
      await keepCopies(confinements.copies, confinements.gateway.user, onProblem, { signal })
    },
    async prepareGivenServices() {
      const { temporalNamespace: namespace, databaseUrl } = settings
      if (databaseUrl !== undefined) await hooks.afterDatabase(databaseUrl)
      if (hooks.temporal !== undefined)
        await registerNamespace({ ...hooks.temporal, namespace, config: readNamespaceConfig() })
    },
  }
}

/**
 * Who may connect to the embedded Temporal. Returns undefined if the parts have no users of their own,
 * because then the filter could not tell users apart.
 */
async function temporalAccess(input: {
  readonly settings: StackSettings
  readonly ports: Ports
  readonly confinements: RoostConfinements | undefined
  readonly people: readonly number[]
}): Promise<TemporalAccess | undefined> {
  const { settings, ports, confinements, people } = input
  if (settings.temporalAddress !== undefined || confinements === undefined) return undefined
  const { api, worker } = confinements
  return {
    dataDir: settings.dataDir,
    port: ports.temporal,
    uiPort: settings.temporalUiPort,
    // The Web UI connects to the server as the user `roost-temporal`.
    users: [api.user.uid, worker.user.uid, (await ensureUser(PartUser.Temporal)).uid],
    uiUsers: people,
  }
}

async function requireFreePorts(settings: StackSettings): Promise<void> {
  await requireFreePort({ host: settings.apiHost, port: settings.apiPort }, 'ROOST_API_PORT', 'the API')
  if (settings.hostsAddress !== undefined) await requireFreeHostsPort(settings.hostsAddress)
  if (settings.temporalAddress !== undefined) return
  await requireFreePort(
    { host: '127.0.0.1', port: settings.temporalUiPort },
    'ROOST_TEMPORAL_UI_PORT',
    "Temporal's Web UI",
  )
}

function environmentOfAddresses(
  addresses: StackAddresses,
  { registryAt, isOwnTemporal }: { readonly registryAt: string; readonly isOwnTemporal: boolean },
): Record<string, string> {
  return {
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    // The embedded Temporal has no TLS, whatever else the operator reaches by it.
    ...(isOwnTemporal && { TEMPORAL_TLS: 'false' }),
    ROOST_REGISTRY_URL: registryAt,
    ROOST_API_URL: addresses.apiUrl,
  }
}

/**
 * Settings on which the parts must agree, although they may be defaults of the stack, or depend on the user
 * of the process: the parts run as other users. The parts read all other settings as the stack did.
 */
function environmentOf(settings: StackSettings, ports: Ports): Record<string, string> {
  return {
    ROOST_DATA_DIR: settings.dataDir,
    ROOST_CACHE_DIR: settings.cacheDir,
    ROOST_PORT_OFFSET: String(settings.portOffset),
    ROOST_VM_EGRESS: settings.vmEgress ? 'on' : 'off',
    ROOST_AGENT_DIR: settings.agentDir,
    ROOST_AGENT_PORT: String(ports.agent),
    ROOST_REGISTRY_OWNER_PORT: String(ports.registry),
    ...(settings.registryUrl === undefined ? { ROOST_REGISTRY_BOUNDED: 'on' } : {}),
    ROOST_WORKER_METRICS_PORT: String(ports.worker),
    ROOST_GATEWAY_METRICS_PORT: String(ports.gateway),
  }
}

export const addressesFileName = 'stack.json'

/**
 * Writes the addresses to a file, in which the `roost` command finds the services of a running stack. The
 * file holds the database's password.
 */
async function rememberAddresses(settings: StackSettings, addresses: StackAddresses): Promise<void> {
  await mkdir(settings.dataDir, { recursive: true })
  const file = path.join(settings.dataDir, addressesFileName)
  await writeFile(file, `${JSON.stringify(addresses, undefined, 2)}\n`, { mode: 0o600 })
}
