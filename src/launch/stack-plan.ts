import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Installed } from './installed.ts'
import { planServices } from './embedded-services.ts'
import { ensureKeys } from './keys.ts'
import { rememberedPorts, requireFreePort } from './ports.ts'
import { roostParts } from './roost-parts.ts'
import type { Part } from './part.ts'
import type { StackSettings } from './stack-settings.ts'
import { readNamespaceConfig } from './temporal-config.ts'
import { registerNamespace } from './temporal-registration.ts'

/** Where the services of a stack are, its own or those that the settings name. */
export interface StackAddresses {
  readonly databaseUrl: string
  readonly temporalAddress: string
  readonly registryUrl: string
  readonly apiUrl: string
}

export interface StackPlan {
  readonly addresses: StackAddresses
  /** In the order in which they are started. */
  readonly parts: readonly Part[]
  /** Services that are not ours have to be prepared before the parts start. */
  readonly prepareGivenServices: () => Promise<void>
}

export interface StackHooks {
  /** The database answers: the schema and the first user can be made. */
  readonly afterDatabase: (databaseUrl: string) => Promise<void>
  /** The API answers: users, tokens and images can be made. */
  readonly afterApi: (addresses: StackAddresses) => Promise<void>
}

const portNames = ['postgres', 'temporal', 'registry', 'agent', 'worker', 'gateway'] as const
type Ports = Readonly<Record<(typeof portNames)[number], number>>

/** Decides what is started, with which ports and keys. Writes keys and ports to the data directory; starts nothing. */
export async function planStack(
  settings: StackSettings,
  installed: Installed,
  hooks: StackHooks,
): Promise<StackPlan> {
  await requireFreePorts(settings)
  await ensureKeys(settings, Date.now())
  const ports = await rememberedPorts(path.join(settings.dataDir, 'ports.json'), portNames, [
    settings.apiPort,
    settings.temporalUiPort,
  ])
  const { parts, ...serviceAddresses } = await planServices({
    settings,
    installed,
    ports,
    afterDatabase: hooks.afterDatabase,
  })
  const addresses = { ...serviceAddresses, apiUrl: settings.apiUrl }
  await rememberAddresses(settings, addresses)
  const own = roostParts({
    env: { ...environmentOf(settings, ports), ...environmentOfAddresses(addresses) },
    apiAt: `http://${settings.apiHost}:${settings.apiPort}`,
    workerAt: `http://127.0.0.1:${ports.worker}`,
    agentAt: `http://${settings.agentHost}:${ports.agent}`,
    gatewayAt: `http://127.0.0.1:${ports.gateway}`,
    afterApi: () => hooks.afterApi(addresses),
  })
  return {
    addresses,
    parts: [...parts, ...own],
    async prepareGivenServices() {
      const { temporalAddress: address, temporalNamespace: namespace, databaseUrl } = settings
      if (databaseUrl !== undefined) await hooks.afterDatabase(databaseUrl)
      if (address !== undefined)
        await registerNamespace({ address, namespace, config: readNamespaceConfig() })
    },
  }
}

async function requireFreePorts(settings: StackSettings): Promise<void> {
  await requireFreePort({ host: settings.apiHost, port: settings.apiPort }, 'ROOST_API_PORT', 'the API')
  if (settings.temporalAddress !== undefined) return
  await requireFreePort(
    { host: '127.0.0.1', port: settings.temporalUiPort },
    'ROOST_TEMPORAL_UI_PORT',
    "Temporal's Web UI",
  )
}

function environmentOfAddresses(addresses: StackAddresses): Record<string, string> {
  return {
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    ROOST_REGISTRY_URL: addresses.registryUrl,
    ROOST_API_URL: addresses.apiUrl,
  }
}

/** What the parts must agree on even where it is a default of the stack's own. The rest they read as the stack did. */
function environmentOf(settings: StackSettings, ports: Ports): Record<string, string> {
  return {
    ROOST_DATA_DIR: settings.dataDir,
    ROOST_AGENT_DIR: settings.agentDir,
    ROOST_AGENT_PORT: String(ports.agent),
    ROOST_WORKER_METRICS_PORT: String(ports.worker),
    ROOST_GATEWAY_METRICS_PORT: String(ports.gateway),
  }
}

export const addressesFileName = 'stack.json'

/** For the `roost` command, which finds the services of a running stack by it. It holds the database's password. */
async function rememberAddresses(settings: StackSettings, addresses: StackAddresses): Promise<void> {
  await mkdir(settings.dataDir, { recursive: true })
  const file = path.join(settings.dataDir, addressesFileName)
  await writeFile(file, `${JSON.stringify(addresses, undefined, 2)}\n`, { mode: 0o600 })
}
